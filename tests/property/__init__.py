"""Properties over generated clusters and edits. The strategies follow the field table: a new row is generated too."""
