"""What the owner reads to decide: inspection, advice, comparison, evaluation, report, charts."""
