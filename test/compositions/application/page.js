import { createClient } from "idpauth/client";
import "idpauth/client/warning";
import { mount, unmount } from "svelte";
import { createApp, h } from "vue";
import { useSession } from "../../../examples/vue/use-session.ts";
import Session from "./Session.svelte";

const client = createClient();
globalThis.client = client;
/** How many listeners the components have. */
globalThis.listeners = 0;
const counted = {
  ...client,
  subscribe(listener) {
    globalThis.listeners += 1;
    const remove = client.subscribe(listener);
    return () => {
      globalThis.listeners -= 1;
      remove();
    };
  },
};

const vue = createApp({
  setup() {
    const session = useSession(counted);
    return () => [
      h("p", { id: "vue" }, `${session.value.status}: ${session.value.user?.name ?? "no user"}`),
      h("idpauth-warning", { client: counted, seconds: 90, texts: { stay: "Stay in Vue" } }),
    ];
  },
});
vue.mount("#vue-root");
const svelte = mount(Session, {
  target: document.getElementById("svelte-root"),
  props: { client: counted },
});

globalThis.leave = async () => {
  vue.unmount();
  await unmount(svelte);
};
