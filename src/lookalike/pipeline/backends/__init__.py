"""Where the work runs. Only the local machine so far, without a back end; `contracts.Backend` names the verbs."""
