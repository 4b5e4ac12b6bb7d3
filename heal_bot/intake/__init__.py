"""What enters: events, JUnit XML, node ids, tracebacks."""
