#![doc = include_str!("../README.md")]
use proptest::test_runner::Config;

/// Settings of a property test that tries `usual` cases, or as many as `PROPTEST_CASES` names.
pub fn cases(usual: u32) -> Config {
    let asked = std::env::var_os("PROPTEST_CASES").is_some();
    let default = Config::default();
    // Failures are told with their seed; no file beside the tests keeps it.
    Config { cases: if asked { default.cases } else { usual }, failure_persistence: None, ..default }
}
