//! Packets whose headers say nothing to the proxy: each of their flows keeps to a link.
use super::Proxy;
use crate::flow_table::fold;
use crate::ids::LinkId;
use crate::link_table::Link;
use crate::verdict::{DataRewrite, DropReason, Verdict};

/// What the hash of a flow is mixed with, so that it is not the host's own.
const HASH_SALT: u64 = 0xA076_1D64_78BD_642F;
/// What the number of a link is mixed with.
const LINK_SALT: u64 = 0xE703_7ED1_A0B4_28DB;

impl<P: Clone> Proxy<P> {
    /// A packet towards the receiver whose header says nothing to the proxy (UDP, QUIC, IPsec): all packets with one
    /// hash take one link, chosen by weight among those that are near, and only the flows of a link move that has
    /// departed or is near no more.
    pub fn handle_opaque(&mut self, flow_hash: u64, packet: P) {
        self.shared.counters.opaque_packets += 1;
        let links = self.shared.links.usable();
        let near = || links.clone().filter(|(_, link)| link.is_near());
        let earliest = earliest(flow_hash, near()).or_else(|| earliest(flow_hash, links.clone()));
        let verdict = match earliest {
            Some(link) => Verdict::Forward { link, packet, rewrite: DataRewrite::default(), position: None },
            None => {
                self.shared.counters.dropped_no_link += 1;
                Verdict::Drop { packet, reason: DropReason::NoLink }
            }
        };
        self.shared.verdicts.push_back(verdict);
    }
}

/// Weighted rendezvous: each link draws an exponential time of rate W from the hash; the earliest wins.
fn earliest<'a>(flow_hash: u64, links: impl Iterator<Item = (LinkId, &'a Link)>) -> Option<LinkId> {
    let mut earliest: Option<(f64, LinkId)> = None;
    for (id, link) in links {
        let draw = fold(flow_hash ^ HASH_SALT, u64::from(id.0) ^ LINK_SALT);
        let uniform = ((draw >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        let weight = link.variables.full_weight.max(1e-9);
        // Few of many links need a logarithm: -ln u is at least 1 - u.
        if earliest.is_none_or(|(time, _)| (1.0 - uniform) / weight <= time) {
            let time = -libm::log(uniform) / weight;
            earliest = earliest.filter(|(before, _)| *before <= time).or(Some((time, id)));
        }
    }
    earliest.map(|(_, id)| id)
}
