use super::*;

fn sample(at_ms: u64, received_bytes: u64) -> Sample {
    Sample {
        at: Duration::from_millis(at_ms),
        delivery: Delivery::default(),
        received_bytes,
        duplicate_bytes: 0,
        paths: Vec::new(),
    }
}

#[test]
fn the_last_arrival_before_a_pause_is_told() {
    let mut sampler = Sampler::new(Duration::from_millis(10));
    let mut told = Vec::new();
    for (at_ms, bytes) in [(0, 1), (3, 2), (9, 3), (300, 4), (301, 5), (305, 5)] {
        told.extend(sampler.take(Instant::from_millis(at_ms), sample(at_ms, bytes)));
    }
    told.extend(sampler.finish());
    let told: Vec<_> = told.iter().map(|sample| (sample.at.as_millis(), sample.received_bytes)).collect();
    assert_eq!(told, [(9, 3), (301, 5)]);
}
