import DefaultTheme from "vitepress/theme";
import { rememberTabs } from "./code-groups.js";
import SessionTimeline from "./SessionTimeline.vue";
import "./style.css";

/** @type {import("vitepress").Theme} */
export default {
  extends: DefaultTheme,
  setup() {
    rememberTabs();
  },
  enhanceApp({ app }) {
    app.component("SessionTimeline", SessionTimeline);
  },
};
