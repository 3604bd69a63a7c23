//! One sender for every kind of receiver: what it sends depends on the requests alone.

use prismux_endpoint::Endpoint;
use prismux_rcp::{PacketIn, PacketOut, RcpConfig, Receiver, Sender};
use prismux_tcp::engine::CongestionKind;
use prismux_units::{Duration, Instant};
use prismux_wire::SeqNumber;
use std::collections::BTreeMap;

const ONE_WAY: Duration = Duration::from_millis(100);
const BYTES: u64 = 1_000_000;

fn config(congestion: CongestionKind) -> RcpConfig {
    let mut config = RcpConfig { consume_on_arrival: true, ..RcpConfig::modern() };
    config.engine.congestion = congestion;
    config
}

/// What a sender set up for `congestion` sends to a receiver that uses STP, every fiftieth packet lost; the whole
/// stream.
fn sent(congestion: CongestionKind) -> Option<Vec<PacketOut>> {
    let mut receiver = Receiver::connect(config(CongestionKind::Stp), SeqNumber(1), Instant::ZERO);
    let mut sender: Option<Sender> = None;
    let mut way: BTreeMap<(Instant, u64), (bool, PacketIn)> = BTreeMap::new();
    let (mut now, mut count, mut log) = (Instant::ZERO, 0, Vec::new());
    while !receiver.is_complete() && now < Instant::from_secs(600) {
        let asked = std::iter::from_fn(|| receiver.poll_transmit(now)).map(|packet| (true, packet));
        let mut left: Vec<(bool, PacketOut)> = asked.collect();
        if let Some(sender) = &mut sender {
            left.extend(std::iter::from_fn(|| sender.poll_transmit(now)).map(|packet| (false, packet)));
        }
        for (to_sender, packet) in left {
            count += 1;
            if !to_sender {
                log.push(packet);
            }
            let arriving =
                PacketIn { header: packet.header, payload_bytes: packet.payload_bytes, ecn: packet.ecn };
            if to_sender || count % 50 != 0 {
                way.insert((now + ONE_WAY, count), (to_sender, arriving));
            }
        }
        let timers = [receiver.poll_timeout(), sender.as_ref().and_then(Endpoint::poll_timeout)];
        let timers = timers.into_iter().flatten().map(|deadline| deadline.at);
        now = timers.chain(way.keys().map(|key| key.0)).min()?.max(now);
        while let Some(entry) = way.first_entry().filter(|entry| entry.key().0 <= now) {
            match (entry.remove(), &mut sender) {
                ((true, packet), Some(sender)) => sender.handle_input(now, packet),
                ((true, packet), none) => {
                    let mut new = Sender::accept(config(congestion), &packet.header, SeqNumber(1000), 9, now);
                    new.write(BYTES);
                    new.finish();
                    *none = Some(new);
                }
                ((false, packet), _) => receiver.handle_input(now, packet),
            }
        }
        receiver.handle_timeout(now);
        if let Some(sender) = &mut sender {
            sender.handle_timeout(now);
        }
    }
    receiver.is_complete().then_some(log)
}

/// Packets that differ between a sender set up for STP and one for NewReno, for the same receiver.
pub(super) fn changes_for_stp() -> Vec<f64> {
    let logs = sent(CongestionKind::Stp).zip(sent(CongestionKind::NewReno));
    let differing = logs.map(|(stp, newreno)| {
        let different = stp.iter().zip(&newreno).filter(|(one, other)| one != other).count();
        (different + stp.len().abs_diff(newreno.len())) as f64
    });
    differing.into_iter().collect()
}
