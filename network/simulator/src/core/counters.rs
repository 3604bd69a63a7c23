//! Where packets went.

/// Where every packet went. Links count their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct NetworkCounters {
    /// Packets that endpoints sent.
    pub sent: u64,
    /// Packets handed to endpoints.
    pub delivered: u64,
    /// Damaged packets that a checksum caught.
    pub corrupted: u64,
    /// Packets for which there was no route.
    pub no_route: u64,
    /// Packets that nodes with rules of their own, such as proxies, took in to keep.
    pub taken_by_nodes: u64,
    /// Packets that such nodes gave out: again, as repairs, or of their own.
    pub returned_by_nodes: u64,
    /// Packets that such nodes dropped.
    pub dropped_by_nodes: u64,
    /// Packets that a medium made, for all who hear a frame but one.
    pub copied: u64,
    /// Packets that a medium made copies of for all who hear them, and that their senders no longer need.
    pub acknowledged: u64,
    /// Packets on a medium that nobody took: full queues, frames for all that are not for the host that hears them.
    pub unheard: u64,
}
