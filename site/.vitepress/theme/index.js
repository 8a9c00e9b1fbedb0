import DefaultTheme from "vitepress/theme";
import { defineAsyncComponent, h } from "vue";
import { data as sections } from "../sections.data.mjs";
import { SEARCH_OPTIONS } from "../search.mjs";
import { menuOf, sidebarsOf } from "../sidebar.mjs";
import { rememberTabs } from "./code-groups.js";
import NotFound from "./NotFound.vue";
import { correctSearchRoles } from "./search-roles.js";
import SessionTimeline from "./SessionTimeline.vue";
import { followSidebar } from "./sidebar-state.js";
import "./style.css";
import "./home.css";
import "./tables.css";
import "./print.css";

const nav = menuOf(sections);
const sidebar = sidebarsOf(sections);

/** @type {import("vitepress").Theme} */
export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { "not-found": () => h(NotFound) }),
  setup() {
    rememberTabs();
    followSidebar();
    correctSearchRoles();
  },
  enhanceApp({ app, siteData }) {
    // Only the home page loads it.
    const RaceFigure = defineAsyncComponent(() => import("./RaceFigure.vue"));
    app.component("RaceFigure", RaceFigure);
    app.component("SessionTimeline", SessionTimeline);
    // The configuration is in the HTML of each page. There, the menus of all pages would be long,
    // and VitePress would evaluate functions from strings, which the site's policy blocks.
    const { themeConfig } = siteData.value;
    const options = {
      ...themeConfig.search.options,
      miniSearch: { searchOptions: SEARCH_OPTIONS },
    };
    siteData.value = {
      ...siteData.value,
      themeConfig: {
        ...themeConfig,
        nav: [...nav, themeConfig.version],
        sidebar,
        search: { ...themeConfig.search, options },
      },
    };
  },
};
