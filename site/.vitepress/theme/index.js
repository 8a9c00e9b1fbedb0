import DefaultTheme from "vitepress/theme";
import { data as sections } from "../sections.data.mjs";
import { menuOf, sidebarsOf } from "../sidebar.mjs";
import { rememberTabs } from "./code-groups.js";
import SessionTimeline from "./SessionTimeline.vue";
import { followSidebar } from "./sidebar-state.js";
import "./style.css";
import "./tables.css";
import "./print.css";

const nav = menuOf(sections);
const sidebar = sidebarsOf(sections);

/** @type {import("vitepress").Theme} */
export default {
  extends: DefaultTheme,
  setup() {
    rememberTabs();
    followSidebar();
  },
  enhanceApp({ app, siteData }) {
    app.component("SessionTimeline", SessionTimeline);
    // In the configuration, the menus of all pages would be in the HTML of each page.
    const { themeConfig } = siteData.value;
    siteData.value = { ...siteData.value, themeConfig: { ...themeConfig, nav, sidebar } };
  },
};
