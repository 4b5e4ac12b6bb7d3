"""From JUnit XML of any writer to failing tests of the checkout."""
