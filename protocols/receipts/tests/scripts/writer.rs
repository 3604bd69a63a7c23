//! The far end in words.
use prismux_endpoint::Endpoint;
use prismux_receipts::{Arrived, NumberRange, Receipt, ReceiptWriter, WriterConfig};
use prismux_script::{Packet, Words, duration, number, same};
use prismux_units::{Duration, Instant};
use prismux_wire::{Ecn, SeqNumber};

/// A writer.
pub struct Far(ReceiptWriter);

impl Far {
    pub fn new(config: &mut Words<'_>) -> Result<Self, String> {
        let mut settings = WriterConfig::default();
        for (key, value) in config.switches()? {
            match key {
                "packets" => settings.max_packets = number(value)?,
                "delay" => settings.max_delay = duration(value)?,
                "wait" => settings.max_wait = duration(value)?,
                "share" => settings.max_share = number(value)?,
                _ => return Err(format!("no setting {key}")),
            }
        }
        Ok(Self(ReceiptWriter::new(settings, 1, Instant::ZERO)))
    }

    pub fn step(&mut self, now: Instant, words: &mut Words<'_>) -> Result<(), String> {
        match words.word("a step")? {
            "<" => {
                let range = words.range("numbers")?;
                let end = if range.is_empty() { range.start + 1 } else { range.end };
                let ecn = if words.skip("ce") { Ecn::Ce } else { Ecn::NotEct };
                for number in range.start..end {
                    let arrived = Arrived { number: SeqNumber(number as u32), bytes: 1500, ecn };
                    self.0.handle_input(now, arrived);
                }
                Ok(())
            }
            "count" => {
                let counters = self.0.counters();
                let name = words.word("a counter")?;
                let found = match name {
                    "packets" => counters.packets,
                    "duplicates" => counters.duplicates,
                    "implausible" => counters.implausible,
                    "receipts" => counters.receipts,
                    _ => return Err(format!("no counter {name}")),
                };
                same(name, found, words.number(name)?)
            }
            other => Err(format!("{other:?} is no step of a writer")),
        }
    }

    pub fn sent(&mut self, now: Instant) -> Option<Packet> {
        self.0.poll_transmit(now).map(|receipt| in_words(&receipt))
    }

    pub fn deadline(&self) -> Option<Instant> {
        self.0.poll_timeout().map(|deadline| deadline.at)
    }
}

/// What is sent must also be readable.
fn in_words(receipt: &Receipt) -> Packet {
    let mut bytes = Vec::new();
    receipt.emit(&mut bytes);
    assert_eq!(Receipt::parse(&bytes).as_ref(), Ok(receipt));
    let range = |NumberRange { first, last }: &NumberRange| format!("{}:{}", first.0, u64::from(last.0) + 1);
    let ranges: Vec<String> = receipt.ranges.iter().map(range).collect();
    let arrivals = receipt.arrivals.iter();
    let arrivals: Vec<String> =
        arrivals.map(|arrival| format!("{}@{}", arrival.number, in_millis(arrival.at))).collect();
    let packet = Packet::new(format!("receipt {}", receipt.number))
        .with_essential("ranges", ranges.join(" "))
        .with("arrivals", arrivals.join(" "))
        .with("written", in_millis(receipt.written_at))
        .with("bytes", bytes.len());
    match receipt.ecn {
        Some(ecn) => packet.with_essential("ce", ecn.ce),
        None => packet,
    }
}

fn in_millis(time: Duration) -> String {
    format!("{}ms", time.as_nanos() as f64 / 1e6)
}
