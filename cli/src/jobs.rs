//! Many runs on all processors, with a bar for whoever waits at a terminal.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::Duration;

pub(crate) use prismux_study::jobs::processors;

/// Does `work` for every item, `parallel` at a time; results in the order of `items`. Stops handing out work after
/// the first failure, which it returns.
pub(crate) fn run<T: Sync, R: Send, E: Send>(
    items: &[T],
    parallel: usize,
    what: &str,
    work: impl Fn(&T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let bar = progress_bar(items.len(), what);
    let results = prismux_study::jobs::run(items, parallel, work, || bar.inc(1));
    bar.finish_and_clear();
    results
}

/// A bar for `length` runs; hidden where nobody watches.
pub(crate) fn progress_bar(length: usize, what: &str) -> ProgressBar {
    if length < 2 || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(length as u64).with_message(what.to_string());
    let style = ProgressStyle::with_template("{msg} [{bar:40}] {pos}/{len} ({per_sec}, {eta} left)");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(250));
    bar
}
