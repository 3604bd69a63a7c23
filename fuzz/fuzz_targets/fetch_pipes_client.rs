#![no_main]
use prismux_tests::fuzzing::target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| (target("fetch_pipes_client").run)(data));
