/** Starts the application, and ends it with SIGTERM. */
export function listen(app, auth) {
  const server = app.listen(process.env.PORT ?? 3000, (error) => {
    if (error) throw error;
    console.log(`http://localhost:${server.address().port}/`);
  });
  process.once("SIGTERM", async () => {
    server.close();
    await auth?.close();
    setTimeout(() => server.closeAllConnections(), 2000).unref(); // if a request never completes
  });
}
