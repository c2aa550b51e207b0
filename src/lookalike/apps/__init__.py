"""What people start: the command line, the studio, the papers' experiments, the samples."""
