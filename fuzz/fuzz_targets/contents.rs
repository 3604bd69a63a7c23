#![no_main]
use prismux_tests::fuzzing::target;

libfuzzer_sys::fuzz_target!(|data: &[u8]| (target("contents").run)(data));
