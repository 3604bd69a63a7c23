//! Many runs on all processors, with a bar for whoever waits at a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How many jobs run at the same time unless told otherwise.
pub(crate) fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Does `work` for every item, `parallel` at a time; results in the order of `items`. Stops handing out work after
/// the first failure, which it returns.
pub(crate) fn run<T: Sync, R: Send, E: Send>(
    items: &[T],
    parallel: usize,
    what: &str,
    work: impl Fn(&T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let bar = progress_bar(items.len(), what);
    let next = AtomicUsize::new(0);
    let stop = AtomicBool::new(false);
    let results: Mutex<Vec<Option<Result<R, E>>>> = Mutex::new(items.iter().map(|_| None).collect());
    let worker = || {
        while !stop.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { break };
            let result = work(item);
            if result.is_err() {
                stop.store(true, Ordering::Relaxed);
            }
            results.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(result);
            bar.inc(1);
        }
    };
    let threads = parallel.clamp(1, items.len().max(1));
    if threads == 1 {
        worker();
    } else {
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(worker);
            }
        });
    }
    bar.finish_and_clear();
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    // Skipped items come after a failure, which ends the collection first.
    let (failed, done): (Vec<_>, Vec<_>) = results.into_iter().flatten().partition(Result::is_err);
    match failed.into_iter().next() {
        Some(Err(error)) => Err(error),
        _ => Ok(done.into_iter().filter_map(Result::ok).collect()),
    }
}

fn progress_bar(length: usize, what: &str) -> ProgressBar {
    if length < 2 || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(length as u64).with_message(what.to_string());
    let style = ProgressStyle::with_template("{msg} [{bar:40}] {pos}/{len} ({eta} left)");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}
