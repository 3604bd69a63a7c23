#![doc = include_str!("../README.md")]
#![allow(clippy::disallowed_macros, reason = "a test runner tells what it runs")]
use prismux_linux::namespace::Namespace;
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

/// Runs the tests whose names contain the first argument of the program that is no option, or all of them: one group
/// after the other, in threads, of each group so many at a time. With `--list` it prints their names. Where namespaces
/// cannot be had, it says so and runs none.
///
/// To be called before the program has other threads, since the process enters a user namespace where it is not root.
pub fn run(groups: &[(&[Test], usize)]) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--list") {
        groups.iter().flat_map(|(tests, _)| *tests).for_each(|(name, _)| println!("{name}: test"));
        return ExitCode::SUCCESS;
    }
    if let Err(error) = privileges::ensure_privileges() {
        println!("skipped: {error}");
        return ExitCode::SUCCESS;
    }
    let filter = arguments.iter().find(|argument| !argument.starts_with('-'));
    let failed = AtomicBool::new(false);
    for &(tests, at_a_time) in groups {
        let named = |test: &&Test| filter.is_none_or(|part| test.0.contains(part.as_str()));
        let chosen: Vec<_> = tests.iter().filter(named).collect();
        run_group(&chosen, at_a_time, &failed);
    }
    if failed.into_inner() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Datagrams that UDP sockets of a namespace had no room for, since it was made.
///
/// # Panics
/// Where the kernel does not tell.
pub fn dropped_by_sockets(space: &Namespace) -> u64 {
    let table = space.enter(|| std::fs::read_to_string("/proc/thread-self/net/snmp"));
    let table = table.expect("a namespace").expect("its counters");
    // A line with names, and one with their numbers.
    let mut udp = table.lines().filter_map(|line| line.strip_prefix("Udp: ")).map(str::split_whitespace);
    let (names, numbers) = (udp.next().expect("names"), udp.next().expect("numbers"));
    let dropped = names.zip(numbers).find(|(name, _)| *name == "RcvbufErrors").expect("the counter").1;
    dropped.parse().expect("a number")
}

fn run_group(tests: &[&Test], at_a_time: usize, failed: &AtomicBool) {
    let next = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..at_a_time {
            scope.spawn(|| {
                while let Some((name, test)) = tests.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let start = Instant::now();
                    let passed = std::panic::catch_unwind(test).is_ok();
                    let verdict = if passed { "ok" } else { "FAILED" };
                    println!("test {name} ... {verdict} ({:.1} s)", start.elapsed().as_secs_f64());
                    failed.fetch_or(!passed, Ordering::Relaxed);
                }
            });
        }
    });
}
