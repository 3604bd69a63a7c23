//! Many runs on all processors.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// How many jobs run at the same time unless told otherwise.
pub fn processors() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Does `work` for every item, `parallel` at a time; results in the order of `items`. Stops handing out work after the
/// first failure, which it returns. `done` is called after each item, from the thread that did it.
///
/// # Errors
/// The first failure of `work`, in the order of `items`.
pub fn run<T: Sync, R: Send, E: Send>(
    items: &[T],
    parallel: usize,
    work: impl Fn(&T) -> Result<R, E> + Sync,
    done: impl Fn() + Sync,
) -> Result<Vec<R>, E> {
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
            done();
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
    let results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    // Skipped items come after a failure, which ends the collection first.
    let (failed, done): (Vec<_>, Vec<_>) = results.into_iter().flatten().partition(Result::is_err);
    match failed.into_iter().next() {
        Some(Err(error)) => Err(error),
        _ => Ok(done.into_iter().filter_map(Result::ok).collect()),
    }
}
