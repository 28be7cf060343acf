// The certificates of the test server, as PEM.

/// The certificate of a ``TestServer``, which is reached as `localhost` or, if the case says so, as `127.0.0.1`.
///
/// All leaves have one key, which protects nothing. Made in an empty directory with
/// ```sh
/// printf '[ca]\ndefault_ca=c\n[c]\ndatabase=db\nrand_serial=yes\ndefault_md=sha256\nnew_certs_dir=.\n' >ca.conf
/// printf 'policy=p\n[p]\ncommonName=supplied\n' >>ca.conf
/// touch db; echo unique_subject=no >db.attr
/// for key in authority stranger server; do
///     openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:prime256v1 -out $key.key
/// done
/// issue() { # name, key, issuer, subject, last year, extensions
///     openssl req -new -key $2.key -subj "/CN=$4" -out $1.csr
///     openssl ca -batch -notext -config ca.conf -in $1.csr -out $1.pem \
///         -startdate 20200101000000Z -enddate ${5}0102000000Z \
///         $([ $1 = $3 ] && echo -selfsign || echo -cert $3.pem) -keyfile ${7:-$3}.key -extfile <(printf "$6")
/// }
/// ca='basicConstraints=critical,CA:TRUE\nkeyUsage=critical,keyCertSign'
/// here='subjectAltName=DNS:localhost,IP:127.0.0.1'
/// issue authority authority authority 'Kingfisher test authority' 2120 $ca
/// issue stranger stranger stranger 'Unknown authority' 2120 $ca
/// issue selfSigned server selfSigned localhost 2120 \
///     'subjectAltName=DNS:localhost\nbasicConstraints=critical,CA:TRUE' server
/// issue issued server authority localhost 2120 $here
/// issue expired server authority localhost 2020 $here
/// issue otherHost server authority elsewhere.invalid 2120 subjectAltName=DNS:elsewhere.invalid
/// issue unknownIssuer server stranger localhost 2120 $here
/// ```
public enum TestCertificate: String, CaseIterable, Sendable {
    /// For `localhost`, signed by itself; no client trusts it.
    case selfSigned
    /// For `localhost` and `127.0.0.1`, issued by the test authority: good for a client that trusts it.
    case issued
    /// Issued by the test authority and good but for its validity, which ended in January 2020.
    case expired
    /// Issued by the test authority and good but for its host, `elsewhere.invalid`.
    case otherHost
    /// For `localhost` and `127.0.0.1`, issued by an authority that no client trusts.
    case unknownIssuer

    /// The certificate of the test authority, for clients that are to trust it.
    public static let authorityPEM = """
        -----BEGIN CERTIFICATE-----
        MIIBjTCCATSgAwIBAgIURYioYkS8FK/caG94ypanIIxoT3EwCgYIKoZIzj0EAwIw
        JDEiMCAGA1UEAwwZS2luZ2Zpc2hlciB0ZXN0IGF1dGhvcml0eTAgFw0yMDAxMDEw
        MDAwMDBaGA8yMTIwMDEwMjAwMDAwMFowJDEiMCAGA1UEAwwZS2luZ2Zpc2hlciB0
        ZXN0IGF1dGhvcml0eTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABGmiZbn8hyCP
        HVwDQQRGM4+DtkHyN5f2NFnK0gQUX6xTXxNTNydmhCBvCKB6dpmlVCcOoUnbFD/I
        bsY1NAac4hOjQjBAMA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0PAQH/BAQDAgIEMB0G
        A1UdDgQWBBRY9rNI0PfSOPKAZnUb05XMyWSQ5TAKBggqhkjOPQQDAgNHADBEAiAt
        3Rz+IIZswNELt/SDFu+cKWWP4dnjv8s1upHB224IFgIgCc1jlHlT/GNTYDTuvRLt
        PituyilSyUwn1AvX8q30cOc=
        -----END CERTIFICATE-----
        """

    /// The certificate.
    public var pem: String {
        switch self {
        case .selfSigned: Self.selfSignedPEM
        case .issued: Self.issuedPEM
        case .expired: Self.expiredPEM
        case .otherHost: Self.otherHostPEM
        case .unknownIssuer: Self.unknownIssuerPEM
        }
    }

    /// The private key of all certificates.
    public static let keyPEM = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgcAi5E+cHe6PAa+0/
        ChjHFX91ct1EiDH6Y62lgvENlbShRANCAATIL5l09/yLFrY/59VjxQN2c9IZA7lU
        ceCDqzZwE9hICKEt80nWeE9NcOUymdpSWEQj4dwRIED/ttJUzZwz2WY+
        -----END PRIVATE KEY-----
        """

    private static let selfSignedPEM = """
        -----BEGIN CERTIFICATE-----
        MIIBdDCCARqgAwIBAgIUcftoggNCi6JU1ohCzZDq5gdyMZ4wCgYIKoZIzj0EAwIw
        FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAy
        MDAwMDAwWjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
        PQMBBwNCAATIL5l09/yLFrY/59VjxQN2c9IZA7lUceCDqzZwE9hICKEt80nWeE9N
        cOUymdpSWEQj4dwRIED/ttJUzZwz2WY+o0gwRjAUBgNVHREEDTALgglsb2NhbGhv
        c3QwDwYDVR0TAQH/BAUwAwEB/zAdBgNVHQ4EFgQU7pXRPTPev8TyFNANhCBr/VFn
        KUYwCgYIKoZIzj0EAwIDSAAwRQIhANjMJ2IEajYXogSvd00bLNsKfxIOBB3oAnMu
        8iTQqJJeAiAO2KYdySTpZu7hKOWD/p01BpsLUQ8Ch++cn2EG+bKCuA==
        -----END CERTIFICATE-----
        """

    private static let issuedPEM = """
        -----BEGIN CERTIFICATE-----
        MIIBmjCCAUCgAwIBAgIUf7BVkBowsGpNZqUbjzHB9VEi0i0wCgYIKoZIzj0EAwIw
        JDEiMCAGA1UEAwwZS2luZ2Zpc2hlciB0ZXN0IGF1dGhvcml0eTAgFw0yMDAxMDEw
        MDAwMDBaGA8yMTIwMDEwMjAwMDAwMFowFDESMBAGA1UEAwwJbG9jYWxob3N0MFkw
        EwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEyC+ZdPf8ixa2P+fVY8UDdnPSGQO5VHHg
        g6s2cBPYSAihLfNJ1nhPTXDlMpnaUlhEI+HcESBA/7bSVM2cM9lmPqNeMFwwGgYD
        VR0RBBMwEYIJbG9jYWxob3N0hwR/AAABMB0GA1UdDgQWBBTuldE9M96/xPIU0A2E
        IGv9UWcpRjAfBgNVHSMEGDAWgBRY9rNI0PfSOPKAZnUb05XMyWSQ5TAKBggqhkjO
        PQQDAgNIADBFAiBKufh8+7mzj3u70Fg3maCN5Gw+fsgmTGywbsewu8lN1gIhAOBY
        UPOXu+eFJmCoWaCbThXwiru5Y96e1h8VLs92iqUm
        -----END CERTIFICATE-----
        """

    private static let expiredPEM = """
        -----BEGIN CERTIFICATE-----
        MIIBmDCCAT6gAwIBAgIUMHTduj7k7znukwTFrnBTWaE3EFUwCgYIKoZIzj0EAwIw
        JDEiMCAGA1UEAwwZS2luZ2Zpc2hlciB0ZXN0IGF1dGhvcml0eTAeFw0yMDAxMDEw
        MDAwMDBaFw0yMDAxMDIwMDAwMDBaMBQxEjAQBgNVBAMMCWxvY2FsaG9zdDBZMBMG
        ByqGSM49AgEGCCqGSM49AwEHA0IABMgvmXT3/IsWtj/n1WPFA3Zz0hkDuVRx4IOr
        NnAT2EgIoS3zSdZ4T01w5TKZ2lJYRCPh3BEgQP+20lTNnDPZZj6jXjBcMBoGA1Ud
        EQQTMBGCCWxvY2FsaG9zdIcEfwAAATAdBgNVHQ4EFgQU7pXRPTPev8TyFNANhCBr
        /VFnKUYwHwYDVR0jBBgwFoAUWPazSND30jjygGZ1G9OVzMlkkOUwCgYIKoZIzj0E
        AwIDSAAwRQIgRTDD861mgfPZoTlBXAj65+uU+8YeHFf90md09ICPmL8CIQDjhlfv
        3iN2b7Sz192ObXahwmhtkmxYqn/7lGfCMrfAMg==
        -----END CERTIFICATE-----
        """

    private static let otherHostPEM = """
        -----BEGIN CERTIFICATE-----
        MIIBpDCCAUqgAwIBAgIUf77J/mC9tskG5++VW05OJccIERQwCgYIKoZIzj0EAwIw
        JDEiMCAGA1UEAwwZS2luZ2Zpc2hlciB0ZXN0IGF1dGhvcml0eTAgFw0yMDAxMDEw
        MDAwMDBaGA8yMTIwMDEwMjAwMDAwMFowHDEaMBgGA1UEAwwRZWxzZXdoZXJlLmlu
        dmFsaWQwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATIL5l09/yLFrY/59VjxQN2
        c9IZA7lUceCDqzZwE9hICKEt80nWeE9NcOUymdpSWEQj4dwRIED/ttJUzZwz2WY+
        o2AwXjAcBgNVHREEFTATghFlbHNld2hlcmUuaW52YWxpZDAdBgNVHQ4EFgQU7pXR
        PTPev8TyFNANhCBr/VFnKUYwHwYDVR0jBBgwFoAUWPazSND30jjygGZ1G9OVzMlk
        kOUwCgYIKoZIzj0EAwIDSAAwRQIgFOG3KWR+zY5SJc4dgiKnUKLW6ixNyIW3BtpO
        bae67cUCIQDzvV+80jKUmt6J55G+/AVk6nqh/rldEtBvyhXta+r/bg==
        -----END CERTIFICATE-----
        """

    private static let unknownIssuerPEM = """
        -----BEGIN CERTIFICATE-----
        MIIBkjCCATigAwIBAgIUFA42O/xv0PpAPDXIHyX9OqnOSn0wCgYIKoZIzj0EAwIw
        HDEaMBgGA1UEAwwRVW5rbm93biBhdXRob3JpdHkwIBcNMjAwMTAxMDAwMDAwWhgP
        MjEyMDAxMDIwMDAwMDBaMBQxEjAQBgNVBAMMCWxvY2FsaG9zdDBZMBMGByqGSM49
        AgEGCCqGSM49AwEHA0IABMgvmXT3/IsWtj/n1WPFA3Zz0hkDuVRx4IOrNnAT2EgI
        oS3zSdZ4T01w5TKZ2lJYRCPh3BEgQP+20lTNnDPZZj6jXjBcMBoGA1UdEQQTMBGC
        CWxvY2FsaG9zdIcEfwAAATAdBgNVHQ4EFgQU7pXRPTPev8TyFNANhCBr/VFnKUYw
        HwYDVR0jBBgwFoAUYUNglum+cu+QYUPr+SnJt+I8U1owCgYIKoZIzj0EAwIDSAAw
        RQIhANrvbtt+cMURVDu1b6+F7IG6Iz0a9baeuM1YON5wIX2eAiAgut2x7MR13g6g
        kfs2Eo1eojnPyJng0avWymmwT5yDVg==
        -----END CERTIFICATE-----
        """
}
