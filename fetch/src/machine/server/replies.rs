//! Single datagrams that wait to leave: answers to Hellos, challenges, stateless resets.
use std::collections::VecDeque;
use std::net::SocketAddr;

/// A queue whose bytes lie behind one another, so that a reply costs no allocation of its own.
#[derive(Debug, Default)]
pub(super) struct Replies {
    queue: VecDeque<(SocketAddr, usize)>,
    bytes: Vec<u8>,
    /// Where the first of the queue begins.
    taken: usize,
}

impl Replies {
    /// Queues what `write` appends.
    pub(super) fn push(&mut self, to: SocketAddr, write: impl FnOnce(&mut Vec<u8>)) {
        if self.queue.is_empty() {
            self.bytes.clear();
            self.taken = 0;
        }
        write(&mut self.bytes);
        self.queue.push_back((to, self.bytes.len()));
    }

    /// Makes `out` the next one, and says to whom it goes.
    pub(super) fn pop(&mut self, out: &mut Vec<u8>) -> Option<SocketAddr> {
        let (to, end) = self.queue.pop_front()?;
        out.clear();
        out.extend_from_slice(&self.bytes[self.taken..end]);
        self.taken = end;
        Some(to)
    }
}
