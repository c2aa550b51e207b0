"""Where the work on parts runs: this machine or Spark. `data.contracts.Backend` names the operations."""
