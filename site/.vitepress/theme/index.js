import DefaultTheme from "vitepress/theme";
import { defineAsyncComponent, h } from "vue";
import { data as sections } from "../sections.data.mjs";
import { APART, menuOf, sidebarsOf } from "../sidebar.mjs";
import { rememberTabs } from "./code-groups.js";
import FrameworkSwitch from "./FrameworkSwitch.vue";
import NotFound from "./NotFound.vue";
import SessionTimeline from "./SessionTimeline.vue";
import { followSidebar } from "./sidebar-state.js";
import SiteFooter from "./SiteFooter.vue";
import "./style.css";
import "./home.css";
import "./api.css";
import "./tables.css";
import "./print.css";

const nav = menuOf(sections.filter(({ text }) => text !== APART.text));
const sidebar = sidebarsOf(sections);

/** @type {import("vitepress").Theme} */
export default {
  extends: DefaultTheme,
  Layout: () =>
    h(DefaultTheme.Layout, null, {
      "sidebar-nav-before": () => h(FrameworkSwitch),
      "doc-after": () => h(SiteFooter),
      "not-found": () => h(NotFound),
    }),
  setup() {
    rememberTabs();
    followSidebar();
  },
  enhanceApp({ app, siteData }) {
    // Only the home page loads it.
    const RaceFigure = defineAsyncComponent(() => import("./RaceFigure.vue"));
    app.component("RaceFigure", RaceFigure);
    app.component("SessionTimeline", SessionTimeline);
    // The configuration is in the HTML of each page, where the menus of all pages would be long.
    const { themeConfig } = siteData.value;
    siteData.value = {
      ...siteData.value,
      themeConfig: { ...themeConfig, nav: [...nav, themeConfig.version], sidebar },
    };
  },
};
