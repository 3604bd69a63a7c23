//! The near end in words.
use prismux_endpoint::Endpoint;
use prismux_receipts::{Arrival, EcnCounts, LinkMeter, NumberRange, Receipt};
use prismux_script::{Events, Words, duration, number, same};
use prismux_units::{Duration, Instant, Rate};
use prismux_wire::SeqNumber;

/// A meter.
pub struct Near {
    meter: LinkMeter,
    events: Events,
}

impl Default for Near {
    fn default() -> Self {
        Self { meter: LinkMeter::new(1), events: Events::default() }
    }
}

impl Near {
    pub fn step(&mut self, now: Instant, words: &mut Words<'_>) -> Result<(), String> {
        match words.word("a step")? {
            "send" => {
                for _ in 0..words.number("packets")? {
                    self.meter.send(now, 1500, None);
                }
            }
            "begin" => self.meter.begin(words.number("an epoch")?),
            "<" if words.skip("receipt") => {
                let receipt = read(words)?;
                self.meter.handle_input(now, &receipt);
                self.drain();
            }
            question @ ("event" | "no-event") => self.events.answer(question, words)?,
            "count" => self.count(words)?,
            question => self.estimate(now, question, words)?,
        }
        Ok(())
    }

    fn drain(&mut self) {
        while let Some(event) = self.meter.poll_event() {
            self.events.push(event);
        }
    }

    pub fn deadline(&self) -> Option<Instant> {
        self.meter.poll_timeout().map(|deadline| deadline.at)
    }

    pub fn wake(&mut self, now: Instant) {
        self.meter.handle_timeout(now);
        self.drain();
    }

    fn count(&self, words: &mut Words<'_>) -> Result<(), String> {
        let counters = self.meter.counters();
        let name = words.word("a counter")?;
        let found = match name {
            "delivered" => counters.delivered_packets,
            "lost" => counters.lost_packets,
            "spurious" => counters.spurious_losses,
            "forgotten" => counters.forgotten_packets,
            "reordered" => counters.reordered_packets,
            "ce" => counters.ce_packets,
            "receipts" => counters.receipts,
            "refused" => counters.refused_receipts,
            "in-flight" => self.meter.estimate(Instant::ZERO).in_flight_packets,
            _ => return Err(format!("no counter {name}")),
        };
        same(name, found, words.number(name)?)
    }

    fn estimate(&self, now: Instant, question: &str, words: &mut Words<'_>) -> Result<(), String> {
        let estimate = self.meter.estimate(now);
        match question {
            "rtt" => same("rtt", estimate.rtt, Some(words.duration()?)),
            "queueing" => same("queueing", estimate.queueing_delay, Some(words.duration()?)),
            "rate" => same("rate", estimate.delivery_rate, Some(rate(words)?)),
            "capacity" => same("capacity", estimate.capacity, Some(rate(words)?)),
            "busy" => same("busy", estimate.is_busy, words.word("yes or no")? == "yes"),
            "loss" => same("loss", estimate.loss, words.number("a share")?),
            "threshold" => {
                same("threshold", estimate.reordering_packets, words.number("packets")?)?;
                same("threshold", estimate.reordering_time, words.duration()?)
            }
            other => Err(format!("{other:?} is no step of a meter")),
        }
    }
}

fn rate(words: &mut Words<'_>) -> Result<Rate, String> {
    let text = format!("{} {}", words.word("a rate")?, words.word("its unit")?);
    text.parse().map_err(|error| format!("{error}"))
}

fn read(words: &mut Words<'_>) -> Result<Receipt, String> {
    let mut receipt = Receipt {
        epoch: 1,
        number: words.number("the receipt's number")?,
        written_at: Duration::ZERO,
        ecn: None,
        recovered_packets: 0,
        ranges: Vec::new(),
        arrivals: Vec::new(),
    };
    while let Some(word) = words.peek() {
        words.skip(word);
        match word {
            "epoch" => receipt.epoch = words.number("an epoch")?,
            "at" => receipt.written_at = words.duration()?,
            "ce" => receipt.ecn = Some(EcnCounts { ce: words.number("marks")?, ..EcnCounts::default() }),
            "ranges" => {
                let range = |(first, end): (u64, u64)| NumberRange {
                    first: SeqNumber(first as u32),
                    last: SeqNumber(end as u32) - 1,
                };
                receipt.ranges = words.blocks()?.into_iter().map(range).collect();
            }
            "arrivals" => {
                while let Some((name, at)) = words.peek().and_then(|word| word.split_once('@')) {
                    receipt.arrivals.push(Arrival { number: SeqNumber(number(name)?), at: duration(at)? });
                    words.word("an arrival")?;
                }
            }
            other => return Err(format!("{other:?} is no part of a receipt")),
        }
    }
    Ok(receipt)
}
