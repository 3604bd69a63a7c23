//! Whose tunnel ends where: asked for each packet, so that it must not take longer with many members.
use crate::tunnel::Peer;
use std::collections::HashMap;

/// Places of members in their list, by the ends of their tunnels. Several may be of one end: of those at most one is
/// there, and the others have left.
#[derive(Debug, Default)]
pub(super) struct Ends {
    /// Rising places.
    by_end: HashMap<Peer, Vec<usize>>,
}

impl Ends {
    /// The member at this place is where `to` is, and no longer where `from` is.
    pub fn moved(&mut self, place: usize, from: Option<&Peer>, to: &Peer) {
        if let Some(end) = from.map(Peer::end)
            && let Some(places) = self.by_end.get_mut(&end)
        {
            places.retain(|&other| other != place);
            if places.is_empty() {
                self.by_end.remove(&end);
            }
        }
        let places = self.by_end.entry(to.end()).or_default();
        if let Err(at) = places.binary_search(&place) {
            places.insert(at, place);
        }
    }

    /// The places of those whose tunnel ends where `peer` is.
    pub fn of(&self, peer: &Peer) -> &[usize] {
        self.by_end.get(&peer.end()).map_or(&[], Vec::as_slice)
    }
}
