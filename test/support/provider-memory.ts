import type { Adapter, AdapterFactory, AdapterPayload } from "oidc-provider";

/** Keeps what the provider has issued in memory. */
export function providerMemory(): AdapterFactory {
  const entries = new Map<string, { payload: AdapterPayload; expiresAt: number }>();

  const sweep = () => {
    const now = Date.now();
    for (const [key, entry] of entries) if (entry.expiresAt <= now) entries.delete(key);
  };

  return (model): Adapter => {
    const find = (id: string) => {
      const entry = entries.get(`${model}:${id}`);
      return entry !== undefined && entry.expiresAt > Date.now() ? entry.payload : undefined;
    };
    const findBy = (field: "uid" | "userCode", value: string) => {
      for (const [key, { payload }] of entries)
        if (key.startsWith(`${model}:`) && payload[field] === value) return payload;
      return undefined;
    };
    return {
      async upsert(id, payload, expiresIn) {
        sweep();
        entries.set(`${model}:${id}`, {
          payload,
          expiresAt: expiresIn === undefined ? Infinity : Date.now() + expiresIn * 1000,
        });
      },
      find: async (id) => find(id),
      findByUid: async (uid) => findBy("uid", uid),
      findByUserCode: async (code) => findBy("userCode", code),
      async consume(id) {
        const payload = find(id);
        if (payload !== undefined) payload.consumed = Math.floor(Date.now() / 1000);
      },
      async destroy(id) {
        entries.delete(`${model}:${id}`);
      },
      async revokeByGrantId(grantId) {
        for (const [key, { payload }] of entries)
          if (key.startsWith(`${model}:`) && payload.grantId === grantId) entries.delete(key);
      },
    };
  };
}
