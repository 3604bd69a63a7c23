use super::Distribution;

#[test]
fn quantiles_lie_between_neighbours() {
    let of = Distribution::of([4.0, 1.0, 3.0, 2.0, 5.0]).unwrap();
    assert_eq!((of.min, of.p25, of.median, of.p75, of.max, of.mean), (1.0, 2.0, 3.0, 4.0, 5.0, 3.0));
    assert!((of.p5 - 1.2).abs() < 1e-12);
    let even = Distribution::of([1.0, 2.0]).unwrap();
    assert_eq!(even.median, 1.5);
}

#[test]
fn nothing_has_no_distribution() {
    assert_eq!(Distribution::of([]), None);
}
