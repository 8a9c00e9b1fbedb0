import { testOverCluster } from "./redis-cluster-tests.js";

// ioredis over one server is in redis.test.ts, and over a Cluster in redis-cluster.matrix.test.ts.
testOverCluster("node-redis");
