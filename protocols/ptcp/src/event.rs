//! What a connection tells its host.
use alloc::collections::VecDeque;
use prismux_tcp::TcpEvent;

/// Something the application, the keeper of the bytes, or a trace should know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PtcpEvent {
    /// What a TCP would tell, here of the striped connection: it is connected with its first pipe, and closed, reset
    /// or timed out with its last one; segments and acknowledgements are those of any pipe.
    Connection(TcpEvent),
    /// A pipe is established; the first one too.
    PipeEstablished {
        /// The pipe's number.
        pipe: u8,
    },
    /// A pipe has ended, or could not be opened; the others go on.
    PipeClosed {
        /// The pipe's number.
        pipe: u8,
    },
}

impl From<TcpEvent> for PtcpEvent {
    fn from(event: TcpEvent) -> Self {
        Self::Connection(event)
    }
}

/// Pending events.
#[derive(Debug, Default)]
pub(crate) struct Events {
    list: VecDeque<PtcpEvent>,
}

impl Events {
    pub(crate) fn push(&mut self, event: impl Into<PtcpEvent>) {
        self.list.push_back(event.into());
    }

    pub(crate) fn pop(&mut self) -> Option<PtcpEvent> {
        self.list.pop_front()
    }
}
