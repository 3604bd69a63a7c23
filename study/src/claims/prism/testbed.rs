//! What the testbed of the papers was (section VII-B), for T1 to T3.
//!
//! * Its emulator, NISTnet, has no limit of its queues unless one is set, and the papers set none.
//! * "an ftp application ... is used to measure end-to-end throughput by transferring a 14 MB file": the whole transfer,
//!   slow start included.
//! * "vanilla-TCP refers to TCP implementation in Linux kernel-2.4.20" (footnote 6), which adapts to reordering. The
//!   textbook sender of ns-2 stands beside it as another column.

/// Said of claims that count the whole transfer.
pub(super) const WHOLE_TRANSFER: &str = "the whole transfer, slow start included, over links whose queues have no \
    limit, as the emulator's; headers counted as overhead of the links";

/// Overrides: the queues of the first `links` shared links without a limit.
pub(super) fn unlimited_queues(links: usize) -> Vec<String> {
    (1..=links).map(|link| format!("links.wwan{link}.queue=unlimited")).collect()
}
