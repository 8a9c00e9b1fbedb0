// The first sample of docs/how-to/testing.md is a whole file, which this file runs as a test.
import "../../docs/snippets/testing/reports.test.mjs";
