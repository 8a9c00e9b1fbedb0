// Interleaved rounds: A B C A B C …. A slow moment of the machine affects all of them, so ratios of
// medians stay comparable even if absolute numbers do not.

export function median(values) {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * Runs every measurement once per round and returns the values of each. The first round only warms
 * up.
 */
export async function interleave(measurements, rounds) {
  const values = Object.fromEntries(Object.keys(measurements).map((name) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, measure] of Object.entries(measurements)) {
      const value = await measure();
      if (round > 0) values[name].push(value);
    }
  }
  return values;
}

/** The ratio of the medians, and the smallest and largest ratio of a single round. */
export function ratio(values, others) {
  const single = values.map((value, round) => value / others[round]);
  return {
    ratio: median(values) / median(others),
    min: Math.min(...single),
    max: Math.max(...single),
  };
}

/**
 * Requests per second of several targets, in interleaved rounds, and microseconds of the server's
 * processor time per request. The processor time is comparable also on a machine that is busy with
 * other work. Stops at the first failed request.
 *
 * @param targets each with its `server`, which reports its processor time
 */
export async function throughput(load, targets, { rounds, milliseconds, connections }) {
  let clientCpu = 0;
  const measurements = {};
  for (const { server, ...target } of targets) {
    await load.call("target", target);
    measurements[target.name] = async () => {
      const cpuBefore = await server.call("cpu");
      const round = await load.call("round", { name: target.name, connections, milliseconds });
      const cpu = (await server.call("cpu")) - cpuBefore;
      if (round.failed > 0)
        throw new Error(
          `${target.name}: ${round.failed} failed requests, such as\n${round.sample}`,
        );
      clientCpu = Math.max(clientCpu, round.clientCpu);
      return {
        perSecond: round.perSecond,
        cpuPerRequest: cpu / round.responded,
        p50: round.p50,
        p99: round.p99,
      };
    };
  }
  const both = await interleave(measurements, rounds);
  const only = (field) =>
    Object.fromEntries(
      Object.entries(both).map(([name, values]) => [name, values.map((value) => value[field])]),
    );
  return {
    values: only("perSecond"),
    cpu: only("cpuPerRequest"),
    p50: only("p50"),
    p99: only("p99"),
    clientCpu,
  };
}

/** Describes the medians behind a ratio: requests per second, and the ratio by processor time. */
export function inWords({ values, cpu, clientCpu }, name, other) {
  const rate = (of) => `${Math.round(median(values[of])).toLocaleString("en-US")}/s`;
  const micro = (of) => `${median(cpu[of]).toFixed(0)} µs`;
  const byCpu = (median(cpu[other]) / median(cpu[name])).toFixed(2);
  const client = `client at most ${Math.round(clientCpu * 100)} % of a core`;
  return `${rate(name)} against ${rate(other)}; by processor time ${byCpu} (${micro(name)} against ${micro(other)} a request); ${client}`;
}
