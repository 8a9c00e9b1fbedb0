import childProcess, { ChildProcess } from "node:child_process";
import { Socket as UdpSocket } from "node:dgram";
import { syncBuiltinESMExports } from "node:module";
import { Server, Socket } from "node:net";

// Loaded before each file of the ring "unit": a test that opens a socket or starts a process fails.

function refuse(what: string): () => never {
  return () => {
    throw new Error(`A unit test ${what}. Name its file *.test.ts, or test the rule alone.`);
  };
}

Socket.prototype.connect = refuse("connects a socket");
Server.prototype.listen = refuse("listens on a socket");
UdpSocket.prototype.bind = refuse("binds a socket");
UdpSocket.prototype.send = refuse("sends a datagram");

// Every asynchronous way to start a process calls this method, which the types do not declare.
(ChildProcess.prototype as unknown as { spawn: () => never }).spawn = refuse("starts a process");
Object.assign(childProcess, {
  spawnSync: refuse("starts a process"),
  execFileSync: refuse("starts a process"),
  execSync: refuse("starts a process"),
});
syncBuiltinESMExports();
