//! ADAS, the adaptive scheduler (section IV, Algorithm 1), and its two halves.
use super::{Choice, PacketView, Scheduler};
use crate::ids::LinkId;
use crate::link_table::LinkTable;
use prismux_units::Instant;

/// Rule 1: a retransmission takes the link with the least hRTT. Rule 2: other packets take the link with the least NIP.
/// Rule 3: among several of those, the one with the least hRTT.
#[derive(Debug)]
pub struct Adas;

impl Scheduler for Adas {
    fn choose(&mut self, now: Instant, links: &LinkTable, packet: &PacketView) -> Choice {
        if packet.retransmission {
            return links.fastest(now).into();
        }
        let mut best = None;
        for (id, link) in links.usable() {
            let nip = link.nip();
            match best {
                Some((_, least, _)) if nip > least => {}
                Some((_, least, hrtt)) if nip == least => {
                    let candidate = link.hrtt(now);
                    if candidate < hrtt {
                        best = Some((id, nip, candidate));
                    }
                }
                _ => best = Some((id, nip, link.hrtt(now))),
            }
        }
        best.map(|(id, _, _)| id).into()
    }
}

/// Rule 3 alone: always the least hRTT.
#[derive(Debug)]
pub struct HrttOnly;

impl Scheduler for HrttOnly {
    fn choose(&mut self, now: Instant, links: &LinkTable, _packet: &PacketView) -> Choice {
        links.fastest(now).into()
    }
}

/// Rule 2 alone, without the floor: least N / W, lowest number on ties (section IV-B.2).
#[derive(Debug)]
pub struct NipOnly;

impl Scheduler for NipOnly {
    fn choose(&mut self, _now: Instant, links: &LinkTable, _packet: &PacketView) -> Choice {
        let least = |a: &(LinkId, f64), b: &(LinkId, f64)| a.1.total_cmp(&b.1);
        links.usable().map(|(id, link)| (id, link.load())).min_by(least).map(|(id, _)| id).into()
    }
}
