import { testOverCluster } from "./redis-cluster-tests.js";

testOverCluster("ioredis");
