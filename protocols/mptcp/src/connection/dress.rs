//! The options of a segment that leaves, and its window.
use super::{Connection, Mode};
use crate::keys::{Key, join_proof, short_join_proof};
use crate::options::{Capable, DataSequence, Dss, Join, Mapping, MptcpOptions};
use crate::segment::{Segment, SegmentOut};
use crate::subflow::{DSS_BYTES, Opening, Spoken};
use prismux_wire::{TcpFlags, TcpHeader};

impl Connection {
    /// A segment of the subflow at `place` with everything that the connection adds.
    pub(super) fn dress(&mut self, place: usize, spoken: Spoken) -> SegmentOut {
        let mut tcp = spoken.tcp;
        self.set_window(place, &mut tcp);
        let mut mptcp = self.options(place, &spoken);
        self.add_rare(place, &tcp, &mut mptcp);
        make_room(&mut tcp, &mut mptcp);
        SegmentOut {
            stream_offset: spoken.data,
            segment: Segment {
                path: self.subflows[place].path,
                tcp,
                mptcp,
                payload_bytes: spoken.payload_bytes,
                ecn: spoken.ecn,
            },
        }
    }

    /// The window is the connection's; the SYN tells its shift and the whole segment size.
    fn set_window(&mut self, place: usize, tcp: &mut TcpHeader) {
        let is_syn = tcp.flags.contains(TcpFlags::SYN);
        let answers = tcp.flags.contains(TcpFlags::ACK);
        let scales =
            self.config.tcp.window_scaling && (!answers || self.subflows[place].peer_shift.is_some());
        tcp.window = self.receive_buffer.advertise(if scales && !is_syn { self.shift } else { 0 });
        if is_syn {
            tcp.options.window_scale = scales.then_some(self.shift);
            tcp.options.mss = tcp.options.mss.map(|mss| mss + DSS_BYTES);
        }
    }

    fn options(&self, place: usize, spoken: &Spoken) -> MptcpOptions {
        let flags = spoken.tcp.flags;
        let mut options = MptcpOptions::default();
        if self.mode == Mode::Plain || flags.contains(TcpFlags::RST) {
            return options;
        }
        let is_syn = flags.contains(TcpFlags::SYN);
        match self.subflows[place].opening {
            Opening::First => {
                options.capable = self.capable(is_syn, spoken);
            }
            Opening::Join { confirmed: true, .. } if !is_syn => {}
            opening @ Opening::Join { .. } => options.join = Some(self.join_option(place, opening, is_syn)),
        }
        if options.capable.is_none() && options.join.is_none() {
            options.dss = Some(self.signal(spoken));
        }
        options
    }

    /// MP_CAPABLE in all that the opening side sends before it has heard a data sequence signal. Only the very first
    /// data is mapped by it, the rest as usual.
    fn capable(&self, is_syn: bool, spoken: &Spoken) -> Option<Capable> {
        let identity = &self.identity;
        let (own, peer) = (Some(identity.key.0), identity.peer_key.map(|key| key.0));
        if is_syn {
            let key = own.filter(|_| !identity.opened_here);
            return Some(Capable { key, ..Capable::default() });
        }
        if identity.is_proven || !identity.opened_here {
            return None;
        }
        let keys = Capable { key: own, peer_key: peer, ..Capable::default() };
        match spoken.payload_bytes {
            0 => Some(keys),
            bytes if spoken.position == 0 => Some(Capable { data_bytes: Some(bytes as u16), ..keys }),
            _ => None,
        }
    }

    fn join_option(&self, place: usize, opening: Opening, is_syn: bool) -> Join {
        let subflow = &self.subflows[place];
        let (backup, address_id) = (subflow.backup[0], subflow.address_id);
        let (own, peer) = (self.identity.key, self.identity.peer_key.unwrap_or(Key(0)));
        let Opening::Join { own_nonce, peer_nonce, opened_here, .. } = opening else {
            return Join::Ack { proof: [0; 20] };
        };
        match (is_syn, opened_here) {
            (true, true) => Join::Syn { backup, address_id, token: peer.token(), nonce: own_nonce },
            (true, false) => {
                let proof = short_join_proof(own, peer, own_nonce, peer_nonce);
                Join::SynAck { backup, address_id, proof, nonce: own_nonce }
            }
            (false, _) => Join::Ack { proof: join_proof(own, peer, own_nonce, peer_nonce) },
        }
    }

    /// DATA_ACK always; the mapping of a payload; DATA_FIN in segments without one.
    fn signal(&self, spoken: &Spoken) -> Dss {
        let arrived = self.receive_buffer.next() + u64::from(self.ends.peer_closed);
        let ack = Some(DataSequence::Low(self.identity.peer_first.wrapping_add(arrived) as u32));
        let full = |data: u64| DataSequence::Full(self.identity.first.wrapping_add(data));
        let fin = self.has_sent_all() && !self.ends.acked;
        let mapping = match spoken.payload_bytes {
            0 if fin => Some(Mapping { data: full(self.send_buffer.written), subflow: 0, bytes: 1 }),
            0 => None,
            bytes => Some(Mapping {
                data: full(spoken.data),
                subflow: (spoken.position as u32).wrapping_add(1),
                bytes: bytes as u16,
            }),
        };
        Dss { ack, mapping, fin: fin && spoken.payload_bytes == 0 }
    }

    /// Options that wait go with the next segment without payload; reasons with the reset.
    fn add_rare(&mut self, place: usize, tcp: &TcpHeader, options: &mut MptcpOptions) {
        let waiting = &mut self.subflows[place].rare;
        let is_reset = tcp.flags.contains(TcpFlags::RST);
        if self.mode != Mode::Multipath || *waiting == Default::default() {
            return;
        }
        if is_reset {
            let (fast_close, reset) = (waiting.fast_close.take(), waiting.reset.take());
            let rare = options.rare_mut();
            (rare.fast_close, rare.reset) = (fast_close, reset);
            return;
        }
        // Beside a mapping there is no room.
        let has_mapping = options.dss.is_some_and(|dss| dss.mapping.is_some() && !dss.fin);
        if options.dss.is_none() || has_mapping {
            return;
        }
        let taken = core::mem::take(waiting);
        (waiting.fast_close, waiting.reset) = (taken.fast_close, taken.reset);
        let rare = options.rare_mut();
        (rare.add_address, rare.remove_address) = (taken.add_address, taken.remove_address);
        (rare.backup, rare.fail) = (taken.backup, taken.fail);
    }
}

/// SACK blocks make room first, the oldest first, then DATA_FIN, then the DATA_ACK: the next segment has them again.
fn make_room(tcp: &mut TcpHeader, options: &mut MptcpOptions) {
    while !options.fit(tcp) && !tcp.options.sack.is_empty() {
        let fewer = tcp.options.sack.as_slice().len() - 1;
        tcp.options.sack.truncate(fewer);
    }
    if !options.fit(tcp)
        && let Some(dss) = options.dss.as_mut().filter(|dss| dss.fin)
    {
        (dss.fin, dss.mapping) = (false, None);
    }
    if !options.fit(tcp) && options.dss.is_some_and(|dss| dss.mapping.is_none()) {
        options.dss = None;
    }
}
