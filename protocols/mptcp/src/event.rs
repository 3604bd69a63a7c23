//! What a connection tells its host.
use alloc::collections::VecDeque;
use prismux_tcp::TcpEvent;

/// Something the application, the keeper of the bytes, or a trace should know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MptcpEvent {
    /// What a TCP would tell, here of the whole connection. Bytes may be forgotten once acknowledged: no subflow will
    /// repeat them either.
    Connection(TcpEvent),
    /// A subflow may carry data; the first one too.
    SubflowEstablished {
        /// Its place in [`Connection::subflows`](crate::Connection::subflows).
        place: usize,
    },
    /// A subflow has ended, or could not be opened.
    SubflowClosed {
        /// Its place.
        place: usize,
    },
    /// The other side, or something between, does not speak MPTCP: this is plain TCP from now on (section 3.7).
    FellBack,
}

impl From<TcpEvent> for MptcpEvent {
    fn from(event: TcpEvent) -> Self {
        Self::Connection(event)
    }
}

/// Pending events.
#[derive(Debug, Default)]
pub(crate) struct Events {
    list: VecDeque<MptcpEvent>,
}

impl Events {
    pub(crate) fn push(&mut self, event: impl Into<MptcpEvent>) {
        self.list.push_back(event.into());
    }

    pub(crate) fn pop(&mut self) -> Option<MptcpEvent> {
        self.list.pop_front()
    }
}
