// Prints the milliseconds that one import takes in a process that has loaded nothing else.
const started = performance.now();
await import(process.argv[2]);
console.log(performance.now() - started);
