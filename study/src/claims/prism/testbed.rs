//! What the testbed of the papers was (section VII-B), for T1 to T3.
//!
//! * "an ftp application ... is used to measure end-to-end throughput by transferring a 14 MB file": the whole
//!   transfer, slow start included.
//! * "vanilla-TCP refers to TCP implementation in Linux kernel-2.4.20" (footnote 6), which adapts to reordering. It is
//!   striped by PRISM's scheduler, its ACKs untouched. The textbook sender of ns-2 stands beside it as another column.
//! * The emulator, NISTnet, has no limit of its queues unless one is set, and the papers name none. But without any
//!   limit nothing is lost, and Linux 2.4 gets used to the reordering and is not degraded (table Q), as it is in
//!   Figure 7(a). So links have the queue of a device of Linux 2.4, 100 packets; other queues stand beside it.

/// Said of claims that count the whole transfer.
pub(super) const WHOLE_TRANSFER: &str = "the whole transfer, slow start included, over links with the 100 packets of \
    a device of Linux 2.4; headers counted as overhead of the links";

/// Overrides: the queues of the first `links` shared links.
pub(super) fn device_queues(links: usize) -> Vec<String> {
    (1..=links).map(|link| format!("links.wwan{link}.queue=100 packets")).collect()
}
