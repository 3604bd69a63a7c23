use super::Mix;
use super::report::{self, Line};
use super::run::{MixesPlan, simulate};
use super::variant::Variant;
use prismux_endpoint::random::Seed;
use prismux_tcp::engine::HyStartKind;

const SEED: Seed = Seed(1);

#[test]
fn a_number_gives_the_same_mix_whichever_others_are_drawn() {
    let alone = Mix::draw(SEED, 17);
    let among: Vec<Mix> = (0..20).map(|number| Mix::draw(SEED, number)).collect();
    assert_eq!(alone, among[17]);
    assert_ne!(alone.links, among[16].links);
}

#[test]
fn links_stay_within_their_ranges_and_fill_them() {
    let links: Vec<_> = (0..2000).flat_map(|number| Mix::draw(SEED, number).links).collect();
    for link in &links {
        assert!((400_000..=100_000_000).contains(&link.rate_bps), "{link:?}");
        assert!((5.0..=400.0).contains(&link.delay_ms), "{link:?}");
        assert!((0.0..=0.01).contains(&link.loss), "{link:?}");
        let bdp = link.rate_bps as f64 * 2.0 * link.delay_ms / 8000.0;
        assert!(link.queue_bytes >= 30_000 && link.queue_bytes as f64 > bdp - 1.0, "{link:?}");
    }
    let share = |of: &dyn Fn(&super::MixLink) -> bool| {
        links.iter().filter(|link| of(link)).count() as f64 / links.len() as f64
    };
    // Uniform in the logarithm: half below the geometric mean.
    assert!((share(&|link| link.rate_bps < 6_324_555) - 0.5).abs() < 0.03);
    assert!((share(&|link| link.delay_ms < 44.72) - 0.5).abs() < 0.03);
    assert!((share(&|link| link.loss == 0.0) - 0.5).abs() < 0.03);
    assert!((share(&|link| link.loss > 0.005) - 0.25).abs() < 0.03);
}

#[test]
fn mixes_have_two_to_five_links() {
    let mut counts = [0; 6];
    for number in 0..400 {
        counts[Mix::draw(SEED, number).links.len()] += 1;
    }
    assert_eq!(counts[..2], [0, 0]);
    assert!(counts[2..].iter().all(|&count| count > 70), "{counts:?}");
}

#[test]
fn members_write_receipts_and_slow_start_ends_as_asked() {
    let plan =
        |hystart| MixesPlan { seed: 1, warm_s: 3, steady_s: 1, receive_buffer_bytes: 8_000_000, hystart };
    let mix = Mix::draw(SEED, 3);
    let goodput = |variant, hystart| simulate(&mix, variant, &plan(hystart)).goodput_bps;
    let plain = simulate(&mix, Variant::Prism, &plan(Some(HyStartKind::Rfc9406)));
    let measured = simulate(&mix, Variant::PrismReceipts, &plan(Some(HyStartKind::Rfc9406)));
    let receipts = |outcome: &super::run::Outcome| outcome.proxy.get("receipts").copied().unwrap_or(0);
    assert_eq!(receipts(&plain), 0);
    assert!(receipts(&measured) > 10, "{:?}", measured.proxy);
    assert_ne!(
        goodput(Variant::PrismReceipts, Some(HyStartKind::Rfc9406)),
        goodput(Variant::PrismReceipts, Some(HyStartKind::Linux))
    );
}

#[test]
fn without_single_links_nothing_is_compared_with_them() {
    let plan = MixesPlan { seed: 1, warm_s: 1, steady_s: 1, receive_buffer_bytes: 8_000_000, hystart: None };
    let mix = Mix::draw(SEED, 3);
    let text = |variants: &[Variant]| {
        let outcomes = variants.iter().map(|&variant| simulate(&mix, variant, &plan)).collect();
        let lines = [Line::new(mix.clone(), outcomes)];
        format!("{}{}", report::table(&lines), report::worst(&lines, Variant::Prism))
    };
    let alone = text(&[Variant::Prism]);
    assert!(alone.contains("efficiency") && !alone.contains("NaN"), "{alone}");
    assert!(!alone.contains("best single"), "{alone}");
    assert!(text(&[Variant::Single(0), Variant::Prism]).contains("best single link"));
}
