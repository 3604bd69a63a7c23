#![doc = include_str!("../README.md")]
#![allow(clippy::disallowed_macros, reason = "a test runner tells what it runs")]
use prismux_linux::privileges;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

/// A test: its name, and what fails by panicking.
pub type Test = (&'static str, fn());

/// Tests that are named as their functions.
#[macro_export]
macro_rules! tests {
    ($($name:ident),* $(,)?) => {
        &[$((stringify!($name), $name as fn())),*]
    };
}

/// Runs the tests whose names contain the first argument of the program that is no option, or all of them, in threads,
/// `at_a_time` of them at once; with `--list` it prints their names. Where namespaces cannot be had, it says so and
/// runs none.
///
/// To be called before the program has other threads, since the process enters a user namespace where it is not root.
pub fn run(tests: &[Test], at_a_time: usize) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        tests.iter().for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    if let Err(error) = privileges::ensure_privileges() {
        println!("skipped: {error}");
        return ExitCode::SUCCESS;
    }
    let filter = arguments.iter().find(|argument| !argument.starts_with('-'));
    let chosen: Vec<_> =
        tests.iter().filter(|(name, _)| filter.is_none_or(|part| name.contains(part.as_str()))).collect();
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..at_a_time {
            scope.spawn(|| {
                while let Some((name, test)) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let start = Instant::now();
                    let passed = std::panic::catch_unwind(test).is_ok();
                    let verdict = if passed { "ok" } else { "FAILED" };
                    println!("test {name} ... {verdict} ({:.1} s)", start.elapsed().as_secs_f64());
                    failed.fetch_or(!passed, Ordering::Relaxed);
                }
            });
        }
    });
    if failed.into_inner() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
