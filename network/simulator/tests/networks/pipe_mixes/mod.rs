//! Random mixes of pipes, fixed by their number: pTCP over all, and one TCP on each alone.
#![allow(dead_code, reason = "the examples, which share these mixes, use some of it, and the tests others")]
use prismux_endpoint::random::Seed;
use prismux_link::{LinkConfig, LossModel, QueueLimit};
use prismux_plan::{Flow, LinkId, Plan, PtcpSettings, Transport};
use prismux_ptcp::PtcpConfig;
use prismux_simulator::{AnyTransport, PtcpFlow, Simulation, SimulationOptions, TcpFlow};
use prismux_tcp::TcpConfig;
use prismux_units::{ByteCount, Duration, Instant, Probability, Rate};

/// How many mixes there are.
pub const MIXES: u64 = 200;
/// Left out of the measurement, and measured.
const WARM_UP: Duration = Duration::from_secs(20);
const END: Duration = Duration::from_secs(80);

/// One access link.
#[derive(Debug, Clone, Copy)]
pub struct Pipe {
    pub kbps: u64,
    pub rtt_ms: u64,
    pub loss: f64,
    pub queue: u32,
}

/// What came of a mix, in bits per second.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub pipes: Vec<Pipe>,
    pub ptcp: f64,
    pub alone: Vec<f64>,
}

impl Outcome {
    pub fn best(&self) -> f64 {
        self.alone.iter().copied().fold(0.0, f64::max)
    }

    pub fn sum(&self) -> f64 {
        self.alone.iter().sum()
    }
}

/// Two to four pipes: 0.3 to 20 Mbit/s (even in the logarithm), 10 to 400 ms, every third one loses up to 1 %.
pub fn pipes(number: u64) -> Vec<Pipe> {
    let mut random = Seed(number).stream("pipe-mix");
    let count = 2 + random.below(3);
    (0..count)
        .map(|_| Pipe {
            kbps: (300.0 * libm_exp(random.uniform() * 4.2)) as u64,
            rtt_ms: 10 + random.below(391),
            loss: if random.below(3) == 0 { 0.01 * random.uniform() } else { 0.0 },
            queue: 20 + random.below(81) as u32,
        })
        .collect()
}

/// e to the `x`, for `x` from 0 to 5, the same on every machine.
fn libm_exp(x: f64) -> f64 {
    let (mut sum, mut term) = (1.0, 1.0);
    for n in 1..40 {
        term *= x / f64::from(n);
        sum += term;
    }
    sum
}

/// Runs mix `number` with the switches of `tcp` at every end.
pub fn run(number: u64, tcp: &TcpConfig) -> Outcome {
    let pipes = pipes(number);
    let tcp = TcpConfig { receive_buffer: ByteCount::new(8_000_000), ..tcp.clone() };
    let config = PtcpConfig::new(tcp.clone(), pipes.len() as u8);
    let ptcp = goodput(number, &pipes, None, &PtcpFlow { config, address_lists: false }.into());
    let single = TcpFlow::new(tcp).into();
    let alone = (0..pipes.len()).map(|pipe| goodput(number, &pipes, Some(pipe), &single)).collect();
    Outcome { pipes, ptcp, alone }
}

fn goodput(number: u64, pipes: &[Pipe], only: Option<usize>, transport: &AnyTransport) -> f64 {
    let (mut plan, mut options) = (Plan::new("mix", END), SimulationOptions::checked());
    let (mobile, router, fixed) = (plan.host("mobile"), plan.router("router"), plan.host("fixed"));
    let links: Vec<LinkId> = pipes
        .iter()
        .enumerate()
        .map(|(index, pipe)| {
            let clean = LinkConfig {
                rate: Some(Rate::from_bps(pipe.kbps * 1000)),
                delay: Duration::from_micros(pipe.rtt_ms * 500),
                queue: QueueLimit::Packets(pipe.queue),
                ..LinkConfig::default()
            };
            let loss = Probability::new(pipe.loss).expect("below one");
            let lossy = LinkConfig { loss: LossModel::Bernoulli(loss), ..clean.clone() };
            let forward = if pipe.loss > 0.0 { lossy } else { clean.clone() };
            plan.link(&format!("pipe{index}"), [mobile, router], forward, clean)
        })
        .collect();
    let backbone = LinkConfig {
        rate: Some(Rate::from_bps(1_000_000_000)),
        queue: QueueLimit::Packets(1000),
        ..LinkConfig::default()
    };
    plan.symmetric_link("backbone", [router, fixed], backbone);
    let (planned, used) = match only {
        Some(index) => (Transport::Tcp, vec![links[index]]),
        None => (Transport::Ptcp(PtcpSettings::DEFAULT), links),
    };
    let flow = Flow::new("upload", mobile, fixed, planned).over(&used);
    options.carry(&mut plan, flow, transport.clone());
    plan.measure.warm_up = Some(WARM_UP);
    let mut simulation = Simulation::from_plan(&plan, Seed(number), options).expect("it is a network");
    simulation.run_until(Instant::ZERO + END);
    assert_eq!(simulation.faults(), Vec::<String>::new(), "mix {number}");
    simulation.result().flows["upload"].steady_goodput_bps.unwrap_or(0.0)
}
