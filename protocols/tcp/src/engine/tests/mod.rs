//! Unit tests of the engine, one file per mechanism.
