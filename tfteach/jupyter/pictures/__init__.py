"""Static pictures, as SVG: what a view leaves in a saved notebook."""
