//! Workspace-wide tests; see `tests/`.
