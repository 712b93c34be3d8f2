"""What `benchmarks.annotation` runs: the material, a load driver, and a look at the servers' processes."""
