"""What `benchmarks.engine` runs: a provider, an installation, and one module for each kind of process."""
