import DefaultTheme from "vitepress/theme";
import SessionTimeline from "./SessionTimeline.vue";
import "./style.css";

/** @type {import("vitepress").Theme} */
export default {
  extends: DefaultTheme,
  enhanceApp({ app }) {
    app.component("SessionTimeline", SessionTimeline);
  },
};
