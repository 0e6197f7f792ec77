"""How a program builds its graphs and sessions: growth, lazy loading, rebuilding."""
