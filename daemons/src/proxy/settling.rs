//! What lenders and this proxy say to each other of what was carried.
use super::Proxy;
use crate::accounts;
use crate::tunnel::Transport;
use crate::tunnel::control::{Message, Token};
use crate::tunnel::socket::Frame;
use prismux_trace::event::DropReason;
use prismux_units::Instant;

impl Proxy {
    /// A message of a lender's: only a sealed session says whose it is.
    pub(super) fn settlement(&mut self, now: Instant, frame: &Frame<'_>) -> Result<(), DropReason> {
        let message = Message::parse(frame.inner, &Token::inside_a_session());
        let (Transport::Sealed, Ok(Message::Settlement(message))) = (frame.peer.transport, message) else {
            return Err(DropReason::MalformedControl);
        };
        let communities = &self.communities;
        self.borrowing.book(communities.iter().flat_map(|community| community.links.members.iter()));
        let today = accounts::time_now().day;
        match self.borrowing.handle(now, today, frame.peer, &message) {
            Ok(()) => Ok(()),
            Err(refusal) => {
                if self.borrowing.may_tell(now) {
                    let peers = &self.config.peers;
                    let name = peers.get(usize::from(frame.peer.number)).map_or("?", |peer| &peer.name);
                    tracing::warn!(member = name, %refusal, "nothing was signed for a member");
                }
                Err(DropReason::RefusedStatement)
            }
        }
    }

    /// Sends what was signed, once it is kept.
    pub(super) fn send_kept(&mut self, now: Instant) {
        for (peer, message) in self.borrowing.take_kept(now) {
            if let Some(mut turn) = self.turn(self.communities.of_peer(peer)) {
                turn.reply(peer, &Message::Settlement(message));
            }
        }
    }
}
