// @ts-check
import { createApp } from "./app.mjs";

const { app } = createApp();
const port = Number(process.env["PORT"] ?? 3000);
app.listen(port, "localhost", (error) => {
  if (error) throw error; // for example, if the port is taken
  console.log(`http://localhost:${port}/`);
});
