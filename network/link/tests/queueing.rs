//! Closed forms of queueing theory against the link.
use prismux_endpoint::random::Seed;
use prismux_link::{Link, LinkConfig, QueueLimit};
use prismux_units::{ByteCount, Duration, Instant, Rate};

/// Offers packets at the given gaps; returns mean time in the system and the share dropped.
fn offer(config: &LinkConfig, size_bytes: u32, gaps: impl Iterator<Item = f64>) -> (f64, f64) {
    let mut link: Link<Instant> = Link::new(config, Seed(1), "queue");
    let (mut now, mut sum, mut delivered, mut offered) = (0.0, 0.0, 0u32, 0u32);
    let mut drain = |link: &mut Link<Instant>, until: Instant| {
        while let Some(at) = link.next_delivery().filter(|&at| at <= until) {
            if let Some(delivery) = link.poll_delivery(at) {
                sum += (delivery.at - delivery.packet).as_secs_f64();
                delivered += 1;
            }
        }
    };
    for gap in gaps {
        now += gap;
        offered += 1;
        let at = Instant::ZERO + Duration::from_secs_f64(now);
        drain(&mut link, at);
        let _ = link.enqueue(at, size_bytes, at);
    }
    drain(&mut link, Instant::MAX);
    (sum / f64::from(delivered), 1.0 - f64::from(delivered) / f64::from(offered))
}

/// 1250 bytes at 10 Mbit/s: a millisecond of service.
const SERVICE_S: f64 = 0.001;

fn link() -> LinkConfig {
    LinkConfig::new(Rate::from_mbps(10), Duration::ZERO).with_queue(QueueLimit::Unlimited)
}

#[test]
fn poisson_arrivals_wait_as_long_as_m_d_1_says() {
    for load in [0.3, 0.6, 0.8, 0.9] {
        let mut stream = Seed(42).stream("arrivals");
        let gaps = (0..400_000).map(|_| stream.exponential(SERVICE_S / load));
        let (sojourn, lost) = offer(&link(), 1250, gaps);
        // Pollaczek-Khinchine with constant service.
        let expected = SERVICE_S * (1.0 + load / (2.0 * (1.0 - load)));
        assert_eq!(lost, 0.0);
        // Waiting times are correlated over 1 / (1 - load)^2 services; 400,000 arrivals leave about 2 % at load 0.9.
        let tolerance = if load > 0.85 { 0.06 } else { 0.02 };
        assert!((sojourn / expected - 1.0).abs() < tolerance, "load {load}: {sojourn} against {expected}");
    }
}

#[test]
fn regular_arrivals_below_capacity_never_wait() {
    let (sojourn, lost) = offer(&link(), 1250, std::iter::repeat_n(SERVICE_S / 0.99, 10_000));
    assert!((sojourn - SERVICE_S).abs() < 1e-9, "{sojourn}");
    assert_eq!(lost, 0.0);
}

#[test]
fn regular_arrivals_above_capacity_lose_the_excess_behind_a_full_queue() {
    let limit = 20;
    let config = link().with_queue(QueueLimit::Packets(limit));
    let (sojourn, lost) = offer(&config, 1250, std::iter::repeat_n(SERVICE_S / 1.25, 100_000));
    assert!((lost - 0.2).abs() < 1e-3, "{lost}");
    // Who gets in finds the queue all but full: between limit - 1 and limit packets ahead, one in service.
    let ahead = sojourn / SERVICE_S - 1.0;
    assert!((f64::from(limit) - 1.0..=f64::from(limit) + 1.0).contains(&ahead), "{ahead}");
}

#[test]
fn a_finite_queue_under_poisson_load_loses_less_the_longer_it_is() {
    let lost: Vec<f64> = [2, 5, 10, 20]
        .map(|packets| {
            let mut stream = Seed(42).stream("arrivals");
            let gaps = (0..200_000).map(|_| stream.exponential(SERVICE_S / 0.9));
            let config = link().with_queue(QueueLimit::Bytes(ByteCount::new(packets * 1250)));
            offer(&config, 1250, gaps).1
        })
        .to_vec();
    assert!(lost.windows(2).all(|pair| pair[0] > 1.5 * pair[1]), "{lost:?}");
    // Two packets wait beside the one in service: M/D/1/3.
    assert!((lost[0] - md1k_loss(0.9, 3)).abs() < 0.004, "{} {}", lost[0], md1k_loss(0.9, 3));
}

/// Loss probability of M/D/1/K (K in the system) by its embedded Markov chain at departures.
fn md1k_loss(load: f64, in_system: usize) -> f64 {
    // a[k]: probability of k arrivals in one service.
    let mut a = vec![libm::exp(-load)];
    for k in 1..in_system {
        a.push(a[k - 1] * load / k as f64);
    }
    // Unnormalised stationary probabilities of the number left behind, 0..K-1.
    let mut p = vec![1.0];
    for n in 0..in_system - 1 {
        let known: f64 = a[n] * p[0] + (1..=n).map(|k| a[n + 1 - k] * p[k]).sum::<f64>();
        p.push((p[n] - known) / a[0]);
    }
    let p0 = p[0] / p.iter().sum::<f64>();
    1.0 - 1.0 / (p0 + load)
}
