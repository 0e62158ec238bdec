-- Universe 0 of seed.py, from the seeds of shop, mailbox and calendar.

INSERT INTO threads (thread_id, subject) VALUES
    (5001, 'Cancellation, case 83187'),
    (5002, 'My parcel, case 53376'),
    (5003, 'My parcel, case 70419'),
    (5004, 'Collection, case 87751'),
    (5005, 'Collection, case 60924'),
    (5006, 'Cancellation, case 59494'),
    (5007, 'Cancellation, case 52935'),
    (5008, 'My parcel, case 46426'),
    (5009, 'My parcel, case 44613'),
    (5010, 'Collection, case 65317'),
    (5011, 'Collection, case 88749'),
    (5012, 'Cancellation, case 47471'),
    (5013, 'My parcel, case 30500'),
    (5014, 'My parcel, case 68326'),
    (5015, 'Collection, case 44920'),
    (5016, 'Collection, case 25813'),
    (5017, 'Cancellation, case 88418'),
    (5018, 'My parcel, case 23778'),
    (5019, 'My parcel, case 53488'),
    (5020, 'Collection, case 62617'),
    (5021, 'Collection, case 79735'),
    (5022, 'Cancellation, case 90241'),
    (5023, 'My parcel, case 62326'),
    (5024, 'My parcel, case 61815'),
    (5025, 'Collection, case 31222'),
    (5026, 'Collection, case 33413'),
    (5027, 'Cancellation, case 64499'),
    (5028, 'My parcel, case 45277'),
    (5029, 'My parcel, case 79467'),
    (5030, 'Collection, case 48963'),
    (5031, 'Collection, case 93107'),
    (5032, 'Cancellation, case 71971'),
    (5033, 'My parcel, case 49119'),
    (5034, 'My parcel, case 76065'),
    (5035, 'Collection, case 28347'),
    (5036, 'Collection, case 38403'),
    (5037, 'Cancellation, case 20934'),
    (5038, 'My parcel, case 57985'),
    (5039, 'My parcel, case 20507'),
    (5040, 'Collection, case 65849'),
    (5041, 'Collection, case 41346'),
    (5042, 'Cancellation, case 26888'),
    (5043, 'My parcel, case 25741'),
    (5044, 'My parcel, case 25535'),
    (5045, 'Collection, case 54848'),
    (5046, 'Collection, case 64196'),
    (5047, 'Cancellation, case 48235'),
    (5048, 'My parcel, case 82344'),
    (5049, 'My parcel, case 53390'),
    (5050, 'Collection, case 84251'),
    (5051, 'Collection, case 79585'),
    (5052, 'Cancellation, case 96147'),
    (5053, 'My parcel, case 76440'),
    (5054, 'My parcel, case 91720'),
    (5055, 'Collection, case 87649'),
    (5056, 'Collection, case 27070'),
    (5057, 'Cancellation, case 80069'),
    (5058, 'Cancellation, case 73927'),
    (5059, 'My parcel, case 66277'),
    (5060, 'My parcel, case 57280'),
    (5061, 'Collection, case 87124'),
    (5062, 'Collection, case 31354'),
    (5063, 'Cancellation, case 58997'),
    (5064, 'My parcel, case 50548'),
    (5065, 'My parcel, case 42724'),
    (5066, 'Collection, case 27469'),
    (5067, 'Collection, case 67659'),
    (5068, 'Cancellation, case 44478'),
    (5069, 'My parcel, case 31096'),
    (5070, 'My parcel, case 50674'),
    (5071, 'Collection, case 24361'),
    (5072, 'Collection, case 70901'),
    (5073, 'Cancellation, case 26526'),
    (5074, 'My parcel, case 96877'),
    (5075, 'My parcel, case 46773'),
    (5076, 'Collection, case 77576'),
    (5077, 'Collection, case 45715'),
    (5078, 'Cancellation, case 48856'),
    (5079, 'My parcel, case 71057'),
    (5080, 'My parcel, case 84481'),
    (5081, 'Collection, case 76005'),
    (5082, 'Collection, case 70970'),
    (5083, 'Cancellation, case 65766'),
    (5084, 'My parcel, case 78212'),
    (5085, 'My parcel, case 44487'),
    (5086, 'Collection, case 47376'),
    (5087, 'Collection, case 36937'),
    (5088, 'Cancellation, case 61428'),
    (5089, 'My parcel, case 88702'),
    (5090, 'My parcel, case 39333'),
    (5091, 'Collection, case 78627'),
    (5092, 'Collection, case 39401'),
    (5093, 'Cancellation, case 77051'),
    (5094, 'My parcel, case 75274'),
    (5095, 'My parcel, case 63344'),
    (5096, 'Collection, case 42053'),
    (5097, 'Collection, case 70348'),
    (5098, 'Cancellation, case 80410'),
    (5099, 'My parcel, case 76887'),
    (5100, 'My parcel, case 33822'),
    (5101, 'Collection, case 45061'),
    (5102, 'Collection, case 57738'),
    (5103, 'Cancellation, case 95084'),
    (5104, 'My parcel, case 38439'),
    (5105, 'My parcel, case 49712'),
    (5106, 'Collection, case 58342'),
    (5107, 'Collection, case 55432'),
    (5108, 'Cancellation, case 20490'),
    (5109, 'My parcel, case 35224'),
    (5110, 'My parcel, case 25397'),
    (5111, 'Collection, case 67353'),
    (5112, 'Collection, case 20841'),
    (5113, 'Cancellation, case 71788'),
    (5114, 'Collection, case 30665'),
    (5115, 'Collection, case 28710'),
    (5116, 'Cancellation, case 89052'),
    (5117, 'Collection, case 21325'),
    (5118, 'Collection, case 71244'),
    (5119, 'Cancellation, case 81804'),
    (5120, 'Cancellation, case 66583'),
    (5121, 'Collection, case 23348'),
    (5122, 'Collection, case 48274'),
    (5123, 'Cancellation, case 26868'),
    (5124, 'My parcel, case 84949'),
    (5125, 'My parcel, case 38718'),
    (5126, 'Collection, case 59345'),
    (5127, 'Collection, case 78193'),
    (5128, 'Cancellation, case 27893'),
    (5129, 'My parcel, case 84581'),
    (5130, 'My parcel, case 61712'),
    (5131, 'Collection, case 85741'),
    (5132, 'Collection, case 84075'),
    (5133, 'Cancellation, case 82484'),
    (5134, 'My parcel, case 48575'),
    (5135, 'My parcel, case 74408'),
    (5136, 'Collection, case 81953'),
    (5137, 'Collection, case 66407'),
    (5138, 'Cancellation, case 59185'),
    (5139, 'My parcel, case 93349'),
    (5140, 'My parcel, case 38288'),
    (5141, 'Collection, case 81334'),
    (5142, 'Collection, case 97471'),
    (5143, 'Cancellation, case 72588'),
    (5144, 'Cancellation, case 69994'),
    (5145, 'Collection, case 35796'),
    (5146, 'Collection, case 36160'),
    (5147, 'Cancellation, case 40587'),
    (5148, 'Collection, case 38063'),
    (5149, 'Collection, case 94479'),
    (5150, 'Cancellation, case 68733'),
    (5151, 'My parcel, case 77981'),
    (5152, 'My parcel, case 58306'),
    (5153, 'Collection, case 56518'),
    (5154, 'Collection, case 72876'),
    (5155, 'Cancellation, case 91247'),
    (5156, 'Collection, case 73844'),
    (5157, 'Collection, case 33802'),
    (5158, 'Cancellation, case 89648'),
    (5159, 'Collection, case 47561'),
    (5160, 'Collection, case 88558'),
    (5161, 'Cancellation, case 95232'),
    (5162, 'Collection, case 37618'),
    (5163, 'Collection, case 88135'),
    (5164, 'Cancellation, case 57060'),
    (5165, 'Collection, case 57970'),
    (5166, 'Collection, case 74372'),
    (5167, 'Cancellation, case 28925'),
    (5168, 'Collection, case 41437'),
    (5169, 'Collection, case 52643'),
    (5170, 'Cancellation, case 89492'),
    (5171, 'Collection, case 35490'),
    (5172, 'Collection, case 64550'),
    (5173, 'Cancellation, case 89945'),
    (5174, 'Collection, case 60056'),
    (5175, 'Collection, case 54404'),
    (5176, 'Cancellation, case 29234'),
    (5177, 'Collection, case 24646'),
    (5178, 'Collection, case 31175'),
    (5179, 'Cancellation, case 98041'),
    (5180, 'Collection, case 45694'),
    (5181, 'Collection, case 57145'),
    (5182, 'Cancellation, case 66376'),
    (5183, 'Collection, case 53109'),
    (5184, 'Collection, case 33373'),
    (5185, 'Cancellation, case 78272'),
    (5186, 'Collection, case 71935'),
    (5187, 'Collection, case 96233'),
    (5188, 'Cancellation, case 88957'),
    (5189, 'Cancellation, case 72222'),
    (5190, 'Collection, case 53629'),
    (5191, 'Collection, case 20033'),
    (5192, 'Cancellation, case 25314'),
    (5193, 'Collection, case 55399'),
    (5194, 'Collection, case 35837'),
    (5195, 'Cancellation, case 22833'),
    (5196, 'Collection, case 56711'),
    (5197, 'Collection, case 73124'),
    (5198, 'Cancellation, case 91269'),
    (5199, 'My parcel, case 50456'),
    (5200, 'My parcel, case 85231'),
    (5201, 'Collection, case 32131'),
    (5202, 'Collection, case 81791'),
    (5203, 'Cancellation, case 75601'),
    (5204, 'Collection, case 40476'),
    (5205, 'Collection, case 91461'),
    (5206, 'Cancellation, case 59473'),
    (5207, 'Collection, case 35002'),
    (5208, 'Collection, case 59132'),
    (5209, 'Cancellation, case 48669'),
    (5210, 'Collection, case 21019'),
    (5211, 'Collection, case 80556'),
    (5212, 'Cancellation, case 78862'),
    (5213, 'Cancellation, case 20241'),
    (5214, 'Collection, case 58630'),
    (5215, 'Collection, case 46691'),
    (5216, 'Cancellation, case 83345'),
    (5217, 'Collection, case 31337'),
    (5218, 'Collection, case 80612'),
    (5219, 'Cancellation, case 66578'),
    (5220, 'Collection, case 38686'),
    (5221, 'Collection, case 88596'),
    (5222, 'Cancellation, case 64615'),
    (5223, 'Collection, case 79434'),
    (5224, 'Collection, case 52500'),
    (5225, 'Cancellation, case 42903'),
    (5226, 'Collection, case 76585'),
    (5227, 'Collection, case 75273'),
    (5228, 'Cancellation, case 44298'),
    (5229, 'Collection, case 72268'),
    (5230, 'Collection, case 78479'),
    (5231, 'Cancellation, case 40169'),
    (5232, 'Collection, case 93161'),
    (5233, 'Collection, case 34700'),
    (5234, 'Cancellation, case 56303'),
    (5235, 'Collection, case 34236'),
    (5236, 'Collection, case 44308'),
    (5237, 'Cancellation, case 31934'),
    (5238, 'Collection, case 58444'),
    (5239, 'Collection, case 68705'),
    (5240, 'Cancellation, case 46737'),
    (5241, 'Cancellation, case 77841'),
    (5242, 'Collection, case 62030'),
    (5243, 'Collection, case 74686'),
    (5244, 'Cancellation, case 21104'),
    (5245, 'Collection, case 73559'),
    (5246, 'Collection, case 69339'),
    (5247, 'Cancellation, case 27583'),
    (5248, 'Collection, case 89364'),
    (5249, 'Collection, case 68399'),
    (5250, 'Cancellation, case 78302'),
    (5251, 'Collection, case 52513'),
    (5252, 'Collection, case 31082'),
    (5253, 'Cancellation, case 66473'),
    (5254, 'Collection, case 59063'),
    (5255, 'Collection, case 75337'),
    (5256, 'Cancellation, case 97473'),
    (5257, 'Cancellation, case 38649'),
    (5258, 'Collection, case 74624'),
    (5259, 'Collection, case 92191'),
    (5260, 'Cancellation, case 59241'),
    (5261, 'Collection, case 75080'),
    (5262, 'Collection, case 37304'),
    (5263, 'Cancellation, case 29595'),
    (5264, 'Collection, case 30213'),
    (5265, 'Collection, case 71616'),
    (5266, 'Cancellation, case 22693'),
    (5267, 'Cancellation, case 98801'),
    (5268, 'Collection, case 37332'),
    (5269, 'Collection, case 26062'),
    (5270, 'Cancellation, case 75022'),
    (5271, 'Cancellation, case 68819'),
    (5272, 'Collection, case 58149'),
    (5273, 'Collection, case 44109'),
    (5274, 'Cancellation, case 51019'),
    (5275, 'Cancellation, case 51829'),
    (5276, 'Collection, case 86628'),
    (5277, 'Collection, case 61404'),
    (5278, 'Cancellation, case 49205'),
    (5279, 'Collection, case 36414'),
    (5280, 'Collection, case 39257'),
    (5281, 'Cancellation, case 69360'),
    (5282, 'Collection, case 40500'),
    (5283, 'Collection, case 60339'),
    (5284, 'Cancellation, case 96133'),
    (5285, 'Collection, case 89891'),
    (5286, 'Collection, case 33445'),
    (5287, 'Cancellation, case 30591'),
    (5288, 'Collection, case 97728'),
    (5289, 'Collection, case 44123'),
    (5290, 'Cancellation, case 62858'),
    (5291, 'Collection, case 92509'),
    (5292, 'Collection, case 58842'),
    (5293, 'Cancellation, case 58355'),
    (5294, 'Collection, case 82045'),
    (5295, 'Collection, case 63910'),
    (5296, 'Cancellation, case 67479'),
    (5297, 'Collection, case 47278'),
    (5298, 'Collection, case 23661'),
    (5299, 'Return, case 37060'),
    (5300, 'Return, case 53845'),
    (5301, 'Return, case 65147'),
    (5302, 'Return, case 82481'),
    (5303, 'Return, case 34731'),
    (5304, 'Return, case 79512'),
    (5305, 'Return, case 44509'),
    (5306, 'Return, case 38597'),
    (5307, 'Return, case 50521'),
    (5308, 'Return, case 23230'),
    (5309, 'Return, case 68382'),
    (5310, 'Return, case 58438'),
    (5311, 'Return, case 20941'),
    (5312, 'Return, case 36146'),
    (5313, 'Return, case 46842'),
    (5314, 'Return, case 20423'),
    (5315, 'Return, case 47260'),
    (5316, 'Return, case 38781'),
    (5317, 'Return, case 98196'),
    (5318, 'Return, case 29242'),
    (5319, 'Return, case 67946'),
    (5320, 'Return, case 50211'),
    (5321, 'Return, case 21306'),
    (5322, 'Return, case 43318'),
    (5323, 'Return, case 65597'),
    (5324, 'Return, case 65278'),
    (5325, 'Return, case 23850'),
    (5326, 'Return, case 67088'),
    (5327, 'Return, case 35909'),
    (5328, 'Return, case 29218'),
    (5329, 'Return, case 66203'),
    (5330, 'Return, case 30294'),
    (5331, 'Return, case 53106'),
    (5332, 'Return, case 62532'),
    (5333, 'Return, case 85093'),
    (5334, 'Return, case 23949'),
    (5335, 'Return, case 74659'),
    (5336, 'Return, case 76503'),
    (5337, 'Return, case 78552'),
    (5338, 'Return, case 24024'),
    (5339, 'Return, case 40467'),
    (5340, 'Return, case 74416'),
    (5341, 'Return, case 33003'),
    (5342, 'Return, case 28247'),
    (5343, 'Return, case 74478'),
    (5344, 'Return, case 33731'),
    (5345, 'Return, case 31014'),
    (5346, 'Return, case 75319'),
    (5347, 'Return, case 94188'),
    (5348, 'Return, case 75832'),
    (5349, 'Return, case 39095'),
    (5350, 'Return, case 34869'),
    (5351, 'Return, case 60017'),
    (5352, 'Return, case 86467'),
    (5353, 'Return, case 75064'),
    (5354, 'Return, case 88643'),
    (5355, 'Return, case 85852'),
    (5356, 'Return, case 32252'),
    (5357, 'Return, case 50101'),
    (5358, 'Return, case 48308'),
    (5359, 'Return, case 94946'),
    (5360, 'Return, case 94613'),
    (5361, 'Return, case 88165'),
    (5362, 'Return, case 23493'),
    (5363, 'Return, case 53473'),
    (5364, 'Return, case 83722'),
    (5365, 'Return, case 25240'),
    (5366, 'Return, case 25851'),
    (5367, 'Return, case 29874'),
    (5368, 'Return, case 66734'),
    (5369, 'Return, case 79699'),
    (5370, 'Return, case 44966'),
    (5371, 'Return, case 68703'),
    (5372, 'Return, case 78271'),
    (5373, 'Return, case 71383'),
    (5374, 'Return, case 25004'),
    (5375, 'Return, case 44789'),
    (5376, 'Return, case 88027'),
    (5377, 'Return, case 35932'),
    (5378, 'Return, case 58509'),
    (5379, 'Return, case 70809'),
    (5380, 'Return, case 36660'),
    (5381, 'Return, case 58847'),
    (5382, 'Return, case 64284'),
    (5383, 'Return, case 81235'),
    (5384, 'Return, case 27885'),
    (5385, 'Return, case 34548'),
    (5386, 'Return, case 84267'),
    (5387, 'Return, case 70254'),
    (5388, 'Return, case 45555'),
    (5389, 'Return, case 65438'),
    (5390, 'Return, case 91977'),
    (5391, 'Return, case 33800'),
    (5392, 'Return, case 62455'),
    (5393, 'Return, case 37393'),
    (5394, 'Return, case 98420'),
    (5395, 'Return, case 24255'),
    (5396, 'Return, case 22651'),
    (5397, 'Return, case 81720'),
    (5398, 'Return, case 33301'),
    (5399, 'Return, case 26164'),
    (5400, 'Return, case 80146'),
    (5401, 'Return, case 70683'),
    (5402, 'Return, case 81116'),
    (5403, 'Return, case 24611'),
    (5404, 'Return, case 73888'),
    (5405, 'Return, case 66238'),
    (5406, 'Return, case 39840'),
    (5407, 'Return, case 30698'),
    (5408, 'Return, case 98900'),
    (5409, 'Return, case 84465'),
    (5410, 'Return, case 38468'),
    (5411, 'Return, case 74770'),
    (5412, 'Return, case 83088'),
    (5413, 'Return, case 24709'),
    (5414, 'Return, case 27278'),
    (5415, 'Return, case 63781'),
    (5416, 'Return, case 57629'),
    (5417, 'Return, case 51319'),
    (5418, 'Return, case 36688'),
    (5419, 'Return, case 41468'),
    (5420, 'Return, case 28160'),
    (5421, 'Return, case 70289'),
    (5422, 'Return, case 70352'),
    (5423, 'Return, case 73486'),
    (5424, 'Return, case 59689'),
    (5425, 'Return, case 54341'),
    (5426, 'Return, case 84685'),
    (5427, 'Return, case 28601'),
    (5428, 'Return, case 63605'),
    (5429, 'Return, case 53352'),
    (5430, 'Return, case 94745'),
    (5431, 'Return, case 86434'),
    (5432, 'Return, case 59641'),
    (5433, 'Return, case 43851'),
    (5434, 'Return, case 20031'),
    (5435, 'Return, case 22684'),
    (5436, 'Return, case 50614'),
    (5437, 'Return, case 96859'),
    (5438, 'Return, case 70930'),
    (5439, 'Return, case 83204'),
    (5440, 'Return, case 74767'),
    (5441, 'Return, case 98461'),
    (5442, 'Return, case 90178'),
    (5443, 'Return, case 57966'),
    (5444, 'Return, case 47014'),
    (5445, 'Return, case 75884'),
    (5446, 'Return, case 30008'),
    (5447, 'Return, case 98661'),
    (5448, 'Return, case 87895'),
    (5449, 'Return, case 31881'),
    (5450, 'Return, case 95218'),
    (5451, 'Return, case 24406'),
    (5452, 'Return, case 85854'),
    (5453, 'Return, case 89442'),
    (5454, 'Return, case 70099'),
    (5455, 'Return, case 86191'),
    (5456, 'Return, case 68669'),
    (5457, 'Return, case 80389'),
    (5458, 'Return, case 39506'),
    (5459, 'Return, case 41061'),
    (5460, 'Return, case 63331'),
    (5461, 'Return, case 78797'),
    (5462, 'Return, case 22003'),
    (5463, 'Return, case 59380'),
    (5464, 'Return, case 25325'),
    (5465, 'Return, case 37104'),
    (5466, 'Return, case 49503'),
    (5467, 'Return, case 25166'),
    (5468, 'Return, case 87702'),
    (5469, 'Return, case 31094'),
    (5470, 'Return, case 28697'),
    (5471, 'Return, case 81660'),
    (5472, 'Return, case 58585'),
    (5473, 'Return, case 96408'),
    (5474, 'Return, case 69676'),
    (5475, 'Return, case 40434'),
    (5476, 'Return, case 98982'),
    (5477, 'Return, case 53670'),
    (5478, 'Return, case 39446'),
    (5479, 'Return, case 88826'),
    (5480, 'Return, case 24648'),
    (5481, 'Return, case 62182'),
    (5482, 'Return, case 61714'),
    (5483, 'Return, case 64593'),
    (5484, 'Return, case 21272'),
    (5485, 'Return, case 91147'),
    (5486, 'Return, case 46475'),
    (5487, 'Return, case 85358'),
    (5488, 'Return, case 85331'),
    (5489, 'Return, case 62265'),
    (5490, 'Return, case 84933'),
    (5491, 'Return, case 88318'),
    (5492, 'Return, case 75474'),
    (5493, 'Return, case 73203'),
    (5494, 'Return, case 93912'),
    (5495, 'Return, case 39451'),
    (5496, 'Return, case 83950'),
    (5497, 'Return, case 98150'),
    (5498, 'Return, case 33729'),
    (5499, 'Return, case 39835'),
    (5500, 'Return, case 91616'),
    (5501, 'Return, case 67401'),
    (5502, 'Return, case 69549'),
    (5503, 'Return, case 80084'),
    (5504, 'Return, case 45948'),
    (5505, 'Return, case 33714'),
    (5506, 'Return, case 39182'),
    (5507, 'Return, case 48297'),
    (5508, 'Return, case 25518');

INSERT INTO mails (mail_id, thread_id, folder, sender, body, sent_at, unread) VALUES
    (6001, 5001, 'inbox', 'anna.novak66@example.org', 'Hello,

this is about order LP-11312. I would like to cancel it and get my money back. I picked the wrong item.

Anna Novak', '2026-02-28 03:04:00', 1),
    (6002, 5002, 'inbox', 'anna.novak66@example.org', 'Hello,

I would like to follow order LP-11312. Please send me carrier and tracking number.

Anna Novak', '2026-03-01 06:27:00', 1),
    (6003, 5003, 'inbox', 'marko.horvat@example.com', 'Hello,

where is my parcel for order LP-11312? Who brings it, and what is the tracking number?

Marko Horvat', '2026-03-01 18:26:00', 1),
    (6004, 5004, 'inbox', 'anna.novak66@example.org', 'Hello,

I am in town on 2026-03-04. Could I have LP-11312 at the door, at 11:00?

Anna Novak', '2026-02-28 05:40:00', 1),
    (6005, 5005, 'inbox', 'anna.novak66@example.org', 'Hello,

please don''t send LP-11312. I''d rather pick it up on 2026-03-05 at 11:00.

Anna Novak', '2026-02-28 11:03:00', 1),
    (6006, 5006, 'inbox', 'thomas.muller@example.net', 'Hello,

can you still stop LP-11333? I want to cancel the whole order. I have ordered it twice.

Thomas Müller', '2026-03-01 21:36:00', 1),
    (6007, 5007, 'inbox', 'greta.lindholm@example.org', 'Hello,

can you still stop LP-11340? I want to cancel the whole order. I changed my mind.

Greta Lindholm', '2026-03-02 04:42:00', 1),
    (6008, 5008, 'inbox', 'greta.lindholm@example.org', 'Hello,

how do I track order LP-11340? I can''t find the code any more.

Greta Lindholm', '2026-02-28 13:38:00', 1),
    (6009, 5009, 'inbox', 'aoife.brennan@example.org', 'Hello,

where is my parcel for order LP-11340? Who brings it, and what is the tracking number?

Aoife Brennan', '2026-03-01 08:33:00', 1),
    (6010, 5010, 'inbox', 'greta.lindholm@example.org', 'Hello,

I am in town on 2026-03-04. Could I have LP-11340 at the door, at 13:30?

Greta Lindholm', '2026-03-02 04:29:00', 1),
    (6011, 5011, 'inbox', 'greta.lindholm@example.org', 'Hello,

may I collect order LP-11340 at your place? I could come on 2026-03-04 at 10:30.

Greta Lindholm', '2026-03-02 07:50:00', 1),
    (6012, 5012, 'inbox', 'bjork.jonsdottir@example.com', 'Hello,

please cancel my order LP-11347. It is too slow for me.

Björk Jónsdóttir', '2026-03-01 09:08:00', 1),
    (6013, 5013, 'inbox', 'siobhan.obrien@example.com', 'Hello,

how do I track order LP-11347? I can''t find the code any more.

Siobhán O''Brien', '2026-03-01 03:49:00', 1),
    (6014, 5014, 'inbox', 'bjork.jonsdottir@example.com', 'Hello,

where is my parcel for order LP-11347? Who brings it, and what is the tracking number?

Björk Jónsdóttir', '2026-02-27 19:45:00', 1),
    (6015, 5015, 'inbox', 'siobhan.obrien@example.com', 'Hello,

please don''t send LP-11347. I''d rather pick it up on 2026-03-05 at 13:30.

Siobhán O''Brien', '2026-03-01 22:59:00', 1),
    (6016, 5016, 'inbox', 'siobhan.obrien@example.com', 'Hello,

may I collect order LP-11347 at your place? I could come on 2026-03-06 at 11:00.

Siobhán O''Brien', '2026-02-28 12:22:00', 1),
    (6017, 5017, 'inbox', 'zoe.berg@example.com', 'Hello,

this is about order LP-11354. I would like to cancel it and get my money back. I picked the wrong item.

Zoë van den Berg', '2026-02-27 19:51:00', 1),
    (6018, 5018, 'inbox', 'zoe.berg@example.com', 'Hello,

I would like to follow order LP-11354. Please send me carrier and tracking number.

Zoë van den Berg', '2026-02-28 20:14:00', 1),
    (6019, 5019, 'inbox', 'mateusz.zielinski@example.org', 'Hello,

how do I track order LP-11354? I can''t find the code any more.

Mateusz Zieliński', '2026-02-28 01:45:00', 1),
    (6020, 5020, 'inbox', 'zoe.berg@example.com', 'Hello,

I am in town on 2026-03-11. Could I have LP-11354 at the door, at 15:30?

Zoë van den Berg', '2026-03-01 01:05:00', 1),
    (6021, 5021, 'inbox', 'zoe.berg@example.com', 'Hello,

may I collect order LP-11354 at your place? I could come on 2026-03-04 at 14:00.

Zoë van den Berg', '2026-03-01 04:46:00', 1),
    (6022, 5022, 'inbox', 'hanna.virtanen@example.com', 'Hello,

please cancel my order LP-11410. I have ordered it twice.

Hanna Virtanen', '2026-02-27 23:19:00', 1),
    (6023, 5023, 'inbox', 'henrik.lund@example.net', 'Hello,

where is my parcel for order LP-11410? Who brings it, and what is the tracking number?

Henrik Lund', '2026-03-01 15:50:00', 1),
    (6024, 5024, 'inbox', 'hanna.virtanen@example.com', 'Hello,

where is my parcel for order LP-11410? Who brings it, and what is the tracking number?

Hanna Virtanen', '2026-02-27 15:22:00', 1),
    (6025, 5025, 'inbox', 'henrik.lund@example.net', 'Hello,

I am in town on 2026-03-05. Could I have LP-11410 at the door, at 15:30?

Henrik Lund', '2026-02-28 18:21:00', 1),
    (6026, 5026, 'inbox', 'henrik.lund@example.net', 'Hello,

may I collect order LP-11410 at your place? I could come on 2026-03-05 at 15:30.

Henrik Lund', '2026-03-01 03:31:00', 1),
    (6027, 5027, 'inbox', 'marko.horvat@example.com', 'Hello,

can you still stop LP-11424? I want to cancel the whole order. I picked the wrong item.

Marko Horvat', '2026-02-28 15:35:00', 1),
    (6028, 5028, 'inbox', 'marko.horvat@example.com', 'Hello,

where is my parcel for order LP-11424? Who brings it, and what is the tracking number?

Marko Horvat', '2026-03-01 15:26:00', 1),
    (6029, 5029, 'inbox', 'thomas.mueller@example.com', 'Hello,

I would like to follow order LP-11424. Please send me carrier and tracking number.

Thomas Mueller', '2026-02-28 01:40:00', 1),
    (6030, 5030, 'inbox', 'marko.horvat@example.com', 'Hello,

please don''t send LP-11424. I''d rather pick it up on 2026-03-11 at 15:30.

Marko Horvat', '2026-03-02 06:49:00', 1),
    (6031, 5031, 'inbox', 'marko.horvat@example.com', 'Hello,

please don''t send LP-11424. I''d rather pick it up on 2026-03-11 at 09:00.

Marko Horvat', '2026-03-02 02:33:00', 1),
    (6032, 5032, 'inbox', 'chloe.lefevre@example.org', 'Hello,

can you still stop LP-11431? I want to cancel the whole order. I have ordered it twice.

Chloé Lefèvre', '2026-03-01 08:23:00', 1),
    (6033, 5033, 'inbox', 'chloe.lefevre@example.org', 'Hello,

where is my parcel for order LP-11431? Who brings it, and what is the tracking number?

Chloé Lefèvre', '2026-02-28 06:28:00', 1),
    (6034, 5034, 'inbox', 'aoife.brennan@example.org', 'Hello,

I would like to follow order LP-11431. Please send me carrier and tracking number.

Aoife Brennan', '2026-03-01 09:38:00', 1),
    (6035, 5035, 'inbox', 'chloe.lefevre@example.org', 'Hello,

please don''t send LP-11431. I''d rather pick it up on 2026-03-06 at 13:30.

Chloé Lefèvre', '2026-03-02 07:40:00', 1),
    (6036, 5036, 'inbox', 'chloe.lefevre@example.org', 'Hello,

please don''t send LP-11431. I''d rather pick it up on 2026-03-06 at 14:00.

Chloé Lefèvre', '2026-02-28 19:06:00', 1),
    (6037, 5037, 'inbox', 'petra.kovac@example.net', 'Hello,

please cancel my order LP-11459. It is too slow for me.

Petra Kovač', '2026-03-01 01:33:00', 1),
    (6038, 5038, 'inbox', 'petra.kovac@example.net', 'Hello,

I would like to follow order LP-11459. Please send me carrier and tracking number.

Petra Kovač', '2026-02-28 07:26:00', 1),
    (6039, 5039, 'inbox', 'reka.horvath@example.com', 'Hello,

where is my parcel for order LP-11459? Who brings it, and what is the tracking number?

Réka Horváth', '2026-03-01 05:07:00', 1),
    (6040, 5040, 'inbox', 'petra.kovac@example.net', 'Hello,

may I collect order LP-11459 at your place? I could come on 2026-03-06 at 13:30.

Petra Kovač', '2026-03-02 07:16:00', 1),
    (6041, 5041, 'inbox', 'petra.kovac@example.net', 'Hello,

may I collect order LP-11459 at your place? I could come on 2026-03-06 at 15:30.

Petra Kovač', '2026-03-01 15:20:00', 1),
    (6042, 5042, 'inbox', 'aleksi.korhonen@example.org', 'Hello,

please cancel my order LP-11466. It is too slow for me.

Aleksi Korhonen', '2026-02-28 04:37:00', 1),
    (6043, 5043, 'inbox', 'aleksi.korhonen@example.org', 'Hello,

how do I track order LP-11466? I can''t find the code any more.

Aleksi Korhonen', '2026-02-28 21:26:00', 1),
    (6044, 5044, 'inbox', 'leila.haddad@example.net', 'Hello,

I would like to follow order LP-11466. Please send me carrier and tracking number.

Leila Haddad', '2026-03-01 06:19:00', 1),
    (6045, 5045, 'inbox', 'aleksi.korhonen@example.org', 'Hello,

may I collect order LP-11466 at your place? I could come on 2026-03-06 at 10:30.

Aleksi Korhonen', '2026-02-28 18:02:00', 1),
    (6046, 5046, 'inbox', 'aleksi.korhonen@example.org', 'Hello,

I am in town on 2026-03-06. Could I have LP-11466 at the door, at 10:30?

Aleksi Korhonen', '2026-02-28 10:40:00', 1),
    (6047, 5047, 'inbox', 'yusuf.demir@example.org', 'Hello,

please cancel my order LP-11480. It is too slow for me.

Yusuf Demir', '2026-03-01 10:06:00', 1),
    (6048, 5048, 'inbox', 'leila.haddad@example.net', 'Hello,

how do I track order LP-11480? I can''t find the code any more.

Leila Haddad', '2026-02-28 00:41:00', 1),
    (6049, 5049, 'inbox', 'yusuf.demir@example.org', 'Hello,

where is my parcel for order LP-11480? Who brings it, and what is the tracking number?

Yusuf Demir', '2026-02-28 16:45:00', 1),
    (6050, 5050, 'inbox', 'leila.haddad@example.net', 'Hello,

may I collect order LP-11480 at your place? I could come on 2026-03-04 at 14:00.

Leila Haddad', '2026-02-27 15:40:00', 1),
    (6051, 5051, 'inbox', 'leila.haddad@example.net', 'Hello,

please don''t send LP-11480. I''d rather pick it up on 2026-03-06 at 11:00.

Leila Haddad', '2026-02-28 13:58:00', 1),
    (6052, 5052, 'inbox', 'oliver.szabo@example.net', 'Hello,

this is about order LP-11487. I would like to cancel it and get my money back. It is too slow for me.

Olivér Szabó', '2026-02-28 15:40:00', 1),
    (6053, 5053, 'inbox', 'oliver.szabo@example.net', 'Hello,

I would like to follow order LP-11487. Please send me carrier and tracking number.

Olivér Szabó', '2026-03-01 21:04:00', 1),
    (6054, 5054, 'inbox', 'niamh.gallagher@example.com', 'Hello,

where is my parcel for order LP-11487? Who brings it, and what is the tracking number?

Niamh Gallagher', '2026-02-28 02:51:00', 1),
    (6055, 5055, 'inbox', 'oliver.szabo@example.net', 'Hello,

may I collect order LP-11487 at your place? I could come on 2026-03-05 at 14:00.

Olivér Szabó', '2026-03-01 02:31:00', 1),
    (6056, 5056, 'inbox', 'oliver.szabo@example.net', 'Hello,

may I collect order LP-11487 at your place? I could come on 2026-03-05 at 11:00.

Olivér Szabó', '2026-02-27 15:55:00', 1),
    (6057, 5057, 'inbox', 'greta.lindholm@example.org', 'Hello,

this is about order LP-11536. I would like to cancel it and get my money back. I have ordered it twice.

Greta Lindholm', '2026-03-01 13:39:00', 1),
    (6058, 5058, 'inbox', 'niamh.gallagher@example.com', 'Hello,

please cancel my order LP-11557. I changed my mind.

Niamh Gallagher', '2026-02-28 17:06:00', 1),
    (6059, 5059, 'inbox', 'niamh.gallagher@example.com', 'Hello,

where is my parcel for order LP-11557? Who brings it, and what is the tracking number?

Niamh Gallagher', '2026-02-27 16:23:00', 1),
    (6060, 5060, 'inbox', 'sean.obrien@example.org', 'Hello,

how do I track order LP-11557? I can''t find the code any more.

Sean O''Brien', '2026-02-28 13:31:00', 1),
    (6061, 5061, 'inbox', 'niamh.gallagher@example.com', 'Hello,

please don''t send LP-11557. I''d rather pick it up on 2026-03-10 at 14:00.

Niamh Gallagher', '2026-02-28 05:09:00', 1),
    (6062, 5062, 'inbox', 'niamh.gallagher@example.com', 'Hello,

please don''t send LP-11557. I''d rather pick it up on 2026-03-09 at 11:00.

Niamh Gallagher', '2026-03-01 13:13:00', 1),
    (6063, 5063, 'inbox', 'bartholomew.finch@example.com', 'Hello,

can you still stop LP-11578? I want to cancel the whole order. It is too slow for me.

Bartholomew Finch', '2026-02-28 20:41:00', 1),
    (6064, 5064, 'inbox', 'bartholomew.finch@example.com', 'Hello,

how do I track order LP-11578? I can''t find the code any more.

Bartholomew Finch', '2026-03-01 10:58:00', 1),
    (6065, 5065, 'inbox', 'kenji.arakawa@example.org', 'Hello,

I would like to follow order LP-11578. Please send me carrier and tracking number.

Kenji Arakawa', '2026-03-01 19:42:00', 1),
    (6066, 5066, 'inbox', 'bartholomew.finch@example.com', 'Hello,

may I collect order LP-11578 at your place? I could come on 2026-03-11 at 13:30.

Bartholomew Finch', '2026-02-27 23:00:00', 1),
    (6067, 5067, 'inbox', 'bartholomew.finch@example.com', 'Hello,

may I collect order LP-11578 at your place? I could come on 2026-03-04 at 14:00.

Bartholomew Finch', '2026-02-28 03:07:00', 1),
    (6068, 5068, 'inbox', 'greta.lindholm@example.org', 'Hello,

please cancel my order LP-11585. I picked the wrong item.

Greta Lindholm', '2026-02-28 18:20:00', 1),
    (6069, 5069, 'inbox', 'greta.lindholm@example.org', 'Hello,

I would like to follow order LP-11585. Please send me carrier and tracking number.

Greta Lindholm', '2026-02-28 13:13:00', 1),
    (6070, 5070, 'inbox', 'yusuf.demir@example.org', 'Hello,

how do I track order LP-11585? I can''t find the code any more.

Yusuf Demir', '2026-02-28 02:10:00', 1),
    (6071, 5071, 'inbox', 'greta.lindholm@example.org', 'Hello,

please don''t send LP-11585. I''d rather pick it up on 2026-03-05 at 09:00.

Greta Lindholm', '2026-02-28 20:33:00', 1),
    (6072, 5072, 'inbox', 'greta.lindholm@example.org', 'Hello,

may I collect order LP-11585 at your place? I could come on 2026-03-05 at 15:30.

Greta Lindholm', '2026-02-28 13:36:00', 1),
    (6073, 5073, 'inbox', 'wanjiru.kamau@example.com', 'Hello,

can you still stop LP-11606? I want to cancel the whole order. I picked the wrong item.

Wanjiru Kamau', '2026-03-01 15:40:00', 1),
    (6074, 5074, 'inbox', 'soren.ostergaard@example.net', 'Hello,

how do I track order LP-11606? I can''t find the code any more.

Søren Østergaard', '2026-02-27 19:48:00', 1),
    (6075, 5075, 'inbox', 'wanjiru.kamau@example.com', 'Hello,

where is my parcel for order LP-11606? Who brings it, and what is the tracking number?

Wanjiru Kamau', '2026-03-01 13:56:00', 1),
    (6076, 5076, 'inbox', 'soren.ostergaard@example.net', 'Hello,

may I collect order LP-11606 at your place? I could come on 2026-03-05 at 13:30.

Søren Østergaard', '2026-02-28 17:33:00', 1),
    (6077, 5077, 'inbox', 'soren.ostergaard@example.net', 'Hello,

I am in town on 2026-03-09. Could I have LP-11606 at the door, at 10:30?

Søren Østergaard', '2026-02-28 07:57:00', 1),
    (6078, 5078, 'inbox', 'sean.obrien@example.org', 'Hello,

please cancel my order LP-11613. I changed my mind.

Sean O''Brien', '2026-03-01 02:36:00', 1),
    (6079, 5079, 'inbox', 'sean.obrien@example.org', 'Hello,

where is my parcel for order LP-11613? Who brings it, and what is the tracking number?

Sean O''Brien', '2026-02-27 17:19:00', 1),
    (6080, 5080, 'inbox', 'hanna.virtanen@example.com', 'Hello,

I would like to follow order LP-11613. Please send me carrier and tracking number.

Hanna Virtanen', '2026-02-28 13:21:00', 1),
    (6081, 5081, 'inbox', 'sean.obrien@example.org', 'Hello,

please don''t send LP-11613. I''d rather pick it up on 2026-03-09 at 11:00.

Sean O''Brien', '2026-03-01 02:50:00', 1),
    (6082, 5082, 'inbox', 'sean.obrien@example.org', 'Hello,

please don''t send LP-11613. I''d rather pick it up on 2026-03-06 at 14:00.

Sean O''Brien', '2026-03-02 02:29:00', 1),
    (6083, 5083, 'inbox', 'zoe.berg@example.com', 'Hello,

please cancel my order LP-11627. I changed my mind.

Zoë van den Berg', '2026-02-28 04:38:00', 1),
    (6084, 5084, 'inbox', 'zoe.berg@example.com', 'Hello,

I would like to follow order LP-11627. Please send me carrier and tracking number.

Zoë van den Berg', '2026-03-01 06:17:00', 1),
    (6085, 5085, 'inbox', 'emile.roux@example.net', 'Hello,

I would like to follow order LP-11627. Please send me carrier and tracking number.

Émile Roux', '2026-02-28 03:44:00', 1),
    (6086, 5086, 'inbox', 'zoe.berg@example.com', 'Hello,

I am in town on 2026-03-11. Could I have LP-11627 at the door, at 15:30?

Zoë van den Berg', '2026-03-01 06:06:00', 1),
    (6087, 5087, 'inbox', 'zoe.berg@example.com', 'Hello,

I am in town on 2026-03-11. Could I have LP-11627 at the door, at 09:00?

Zoë van den Berg', '2026-03-01 00:55:00', 1),
    (6088, 5088, 'inbox', 'anna.novak66@example.org', 'Hello,

this is about order LP-11634. I would like to cancel it and get my money back. I have ordered it twice.

Anna Novak', '2026-03-01 10:17:00', 1),
    (6089, 5089, 'inbox', 'anna.novak66@example.org', 'Hello,

where is my parcel for order LP-11634? Who brings it, and what is the tracking number?

Anna Novak', '2026-03-01 05:30:00', 1),
    (6090, 5090, 'inbox', 'tomas.dvorak@example.org', 'Hello,

I would like to follow order LP-11634. Please send me carrier and tracking number.

Tomáš Dvořák', '2026-02-27 17:48:00', 1),
    (6091, 5091, 'inbox', 'anna.novak66@example.org', 'Hello,

may I collect order LP-11634 at your place? I could come on 2026-03-10 at 10:30.

Anna Novak', '2026-03-02 03:07:00', 1),
    (6092, 5092, 'inbox', 'anna.novak66@example.org', 'Hello,

please don''t send LP-11634. I''d rather pick it up on 2026-03-10 at 11:00.

Anna Novak', '2026-03-02 08:22:00', 1),
    (6093, 5093, 'inbox', 'jan.vries@example.org', 'Hello,

please cancel my order LP-11662. I picked the wrong item.

Jan de Vries', '2026-03-01 11:11:00', 1),
    (6094, 5094, 'inbox', 'aleksi.korhonen@example.org', 'Hello,

I would like to follow order LP-11662. Please send me carrier and tracking number.

Aleksi Korhonen', '2026-02-27 18:53:00', 1),
    (6095, 5095, 'inbox', 'jan.vries@example.org', 'Hello,

where is my parcel for order LP-11662? Who brings it, and what is the tracking number?

Jan de Vries', '2026-02-28 04:28:00', 1),
    (6096, 5096, 'inbox', 'aleksi.korhonen@example.org', 'Hello,

please don''t send LP-11662. I''d rather pick it up on 2026-03-11 at 11:00.

Aleksi Korhonen', '2026-02-28 10:53:00', 1),
    (6097, 5097, 'inbox', 'aleksi.korhonen@example.org', 'Hello,

may I collect order LP-11662 at your place? I could come on 2026-03-05 at 14:00.

Aleksi Korhonen', '2026-03-01 05:05:00', 1),
    (6098, 5098, 'inbox', 'aoife.brennan@example.org', 'Hello,

please cancel my order LP-11669. I changed my mind.

Aoife Brennan', '2026-02-27 18:31:00', 1),
    (6099, 5099, 'inbox', 'reka.horvath@example.com', 'Hello,

I would like to follow order LP-11669. Please send me carrier and tracking number.

Réka Horváth', '2026-02-28 08:32:00', 1),
    (6100, 5100, 'inbox', 'aoife.brennan@example.org', 'Hello,

how do I track order LP-11669? I can''t find the code any more.

Aoife Brennan', '2026-02-28 07:47:00', 1),
    (6101, 5101, 'inbox', 'reka.horvath@example.com', 'Hello,

I am in town on 2026-03-11. Could I have LP-11669 at the door, at 09:00?

Réka Horváth', '2026-02-28 00:26:00', 1),
    (6102, 5102, 'inbox', 'reka.horvath@example.com', 'Hello,

I am in town on 2026-03-10. Could I have LP-11669 at the door, at 09:00?

Réka Horváth', '2026-02-28 09:29:00', 1),
    (6103, 5103, 'inbox', 'chloe.lefevre@example.org', 'Hello,

this is about order LP-11683. I would like to cancel it and get my money back. I picked the wrong item.

Chloé Lefèvre', '2026-02-28 02:03:00', 1),
    (6104, 5104, 'inbox', 'chloe.lefevre@example.org', 'Hello,

how do I track order LP-11683? I can''t find the code any more.

Chloé Lefèvre', '2026-02-28 01:10:00', 1),
    (6105, 5105, 'inbox', 'ibrahim.diallo@example.net', 'Hello,

where is my parcel for order LP-11683? Who brings it, and what is the tracking number?

Ibrahim Diallo', '2026-03-02 03:10:00', 1),
    (6106, 5106, 'inbox', 'chloe.lefevre@example.org', 'Hello,

please don''t send LP-11683. I''d rather pick it up on 2026-03-10 at 10:30.

Chloé Lefèvre', '2026-03-01 18:55:00', 1),
    (6107, 5107, 'inbox', 'chloe.lefevre@example.org', 'Hello,

I am in town on 2026-03-06. Could I have LP-11683 at the door, at 11:00?

Chloé Lefèvre', '2026-02-28 08:18:00', 1),
    (6108, 5108, 'inbox', 'freja.holm@example.com', 'Hello,

this is about order LP-11690. I would like to cancel it and get my money back. It is too slow for me.

Freja Holm', '2026-02-27 18:33:00', 1),
    (6109, 5109, 'inbox', 'freja.holm@example.com', 'Hello,

where is my parcel for order LP-11690? Who brings it, and what is the tracking number?

Freja Holm', '2026-02-28 05:01:00', 1),
    (6110, 5110, 'inbox', 'chloe.lefevre@example.org', 'Hello,

I would like to follow order LP-11690. Please send me carrier and tracking number.

Chloé Lefèvre', '2026-02-28 18:57:00', 1),
    (6111, 5111, 'inbox', 'freja.holm@example.com', 'Hello,

I am in town on 2026-03-05. Could I have LP-11690 at the door, at 09:00?

Freja Holm', '2026-02-28 16:42:00', 1),
    (6112, 5112, 'inbox', 'freja.holm@example.com', 'Hello,

I am in town on 2026-03-05. Could I have LP-11690 at the door, at 15:30?

Freja Holm', '2026-03-02 06:22:00', 1),
    (6113, 5113, 'inbox', 'elena.petrescu@example.com', 'Hello,

please cancel my order LP-11693. It is too slow for me.

Elena Petrescu', '2026-03-01 19:30:00', 1),
    (6114, 5114, 'inbox', 'elena.petrescu@example.com', 'Hello,

I am in town on 2026-03-11. Could I have LP-11693 at the door, at 13:30?

Elena Petrescu', '2026-03-01 16:23:00', 1),
    (6115, 5115, 'inbox', 'elena.petrescu@example.com', 'Hello,

may I collect order LP-11693 at your place? I could come on 2026-03-09 at 14:00.

Elena Petrescu', '2026-02-28 08:14:00', 1),
    (6116, 5116, 'inbox', 'anna.novak@example.com', 'Hello,

can you still stop LP-11697? I want to cancel the whole order. I have ordered it twice.

Anna Novak', '2026-03-02 04:46:00', 1),
    (6117, 5117, 'inbox', 'anna.novak@example.com', 'Hello,

I am in town on 2026-03-10. Could I have LP-11697 at the door, at 09:00?

Anna Novak', '2026-03-01 09:14:00', 1),
    (6118, 5118, 'inbox', 'anna.novak@example.com', 'Hello,

may I collect order LP-11697 at your place? I could come on 2026-03-04 at 09:00.

Anna Novak', '2026-03-01 03:29:00', 1),
    (6119, 5119, 'inbox', 'rosalind.achterberg@example.net', 'Hello,

this is about order LP-11704. I would like to cancel it and get my money back. It is too slow for me.

Rosalind Achterberg', '2026-02-27 23:46:00', 1),
    (6120, 5120, 'inbox', 'jan.vries86@example.net', 'Hello,

can you still stop LP-11711? I want to cancel the whole order. It is too slow for me.

Jan de Vries', '2026-03-02 00:34:00', 1),
    (6121, 5121, 'inbox', 'jan.vries86@example.net', 'Hello,

may I collect order LP-11711 at your place? I could come on 2026-03-05 at 11:00.

Jan de Vries', '2026-03-01 20:13:00', 1),
    (6122, 5122, 'inbox', 'jan.vries86@example.net', 'Hello,

may I collect order LP-11711 at your place? I could come on 2026-03-11 at 10:30.

Jan de Vries', '2026-03-01 09:37:00', 1),
    (6123, 5123, 'inbox', 'marko.horvat@example.com', 'Hello,

can you still stop LP-11718? I want to cancel the whole order. I have ordered it twice.

Marko Horvat', '2026-03-02 04:26:00', 1),
    (6124, 5124, 'inbox', 'katarzyna.lis@example.net', 'Hello,

how do I track order LP-11718? I can''t find the code any more.

Katarzyna Lis', '2026-03-01 11:26:00', 1),
    (6125, 5125, 'inbox', 'marko.horvat@example.com', 'Hello,

I would like to follow order LP-11718. Please send me carrier and tracking number.

Marko Horvat', '2026-02-27 18:26:00', 1),
    (6126, 5126, 'inbox', 'katarzyna.lis@example.net', 'Hello,

I am in town on 2026-03-04. Could I have LP-11718 at the door, at 14:00?

Katarzyna Lis', '2026-03-01 21:12:00', 1),
    (6127, 5127, 'inbox', 'katarzyna.lis@example.net', 'Hello,

please don''t send LP-11718. I''d rather pick it up on 2026-03-06 at 09:00.

Katarzyna Lis', '2026-03-02 04:59:00', 1),
    (6128, 5128, 'inbox', 'bjork.jonsdottir@example.com', 'Hello,

can you still stop LP-11725? I want to cancel the whole order. It is too slow for me.

Björk Jónsdóttir', '2026-02-28 05:02:00', 1),
    (6129, 5129, 'inbox', 'bjork.jonsdottir@example.com', 'Hello,

I would like to follow order LP-11725. Please send me carrier and tracking number.

Björk Jónsdóttir', '2026-02-28 10:47:00', 1),
    (6130, 5130, 'inbox', 'ines.figueiredo@example.net', 'Hello,

I would like to follow order LP-11725. Please send me carrier and tracking number.

Inês Figueiredo', '2026-02-28 18:16:00', 1),
    (6131, 5131, 'inbox', 'bjork.jonsdottir@example.com', 'Hello,

may I collect order LP-11725 at your place? I could come on 2026-03-09 at 13:30.

Björk Jónsdóttir', '2026-03-02 06:35:00', 1),
    (6132, 5132, 'inbox', 'bjork.jonsdottir@example.com', 'Hello,

may I collect order LP-11725 at your place? I could come on 2026-03-09 at 11:00.

Björk Jónsdóttir', '2026-02-27 15:52:00', 1),
    (6133, 5133, 'inbox', 'ioana.dumitru@example.org', 'Hello,

please cancel my order LP-11732. I changed my mind.

Ioana Dumitru', '2026-03-02 06:53:00', 1),
    (6134, 5134, 'inbox', 'ioana.dumitru@example.org', 'Hello,

I would like to follow order LP-11732. Please send me carrier and tracking number.

Ioana Dumitru', '2026-03-02 07:13:00', 1),
    (6135, 5135, 'inbox', 'elena.petrescu@example.com', 'Hello,

where is my parcel for order LP-11732? Who brings it, and what is the tracking number?

Elena Petrescu', '2026-03-01 05:07:00', 1),
    (6136, 5136, 'inbox', 'ioana.dumitru@example.org', 'Hello,

I am in town on 2026-03-10. Could I have LP-11732 at the door, at 15:30?

Ioana Dumitru', '2026-02-27 19:26:00', 1),
    (6137, 5137, 'inbox', 'ioana.dumitru@example.org', 'Hello,

please don''t send LP-11732. I''d rather pick it up on 2026-03-04 at 11:00.

Ioana Dumitru', '2026-02-28 02:42:00', 1),
    (6138, 5138, 'inbox', 'yusuf.demir@example.org', 'Hello,

please cancel my order LP-11739. I picked the wrong item.

Yusuf Demir', '2026-02-28 20:07:00', 1),
    (6139, 5139, 'inbox', 'yusuf.demir@example.org', 'Hello,

I would like to follow order LP-11739. Please send me carrier and tracking number.

Yusuf Demir', '2026-02-28 02:42:00', 1),
    (6140, 5140, 'inbox', 'oliver.szabo@example.net', 'Hello,

I would like to follow order LP-11739. Please send me carrier and tracking number.

Olivér Szabó', '2026-03-02 06:47:00', 1),
    (6141, 5141, 'inbox', 'yusuf.demir@example.org', 'Hello,

may I collect order LP-11739 at your place? I could come on 2026-03-11 at 14:00.

Yusuf Demir', '2026-02-27 23:34:00', 1),
    (6142, 5142, 'inbox', 'yusuf.demir@example.org', 'Hello,

please don''t send LP-11739. I''d rather pick it up on 2026-03-04 at 11:00.

Yusuf Demir', '2026-02-27 15:28:00', 1),
    (6143, 5143, 'inbox', 'maria.rossi83@example.net', 'Hello,

please cancel my order LP-11746. I picked the wrong item.

María Rossi', '2026-02-27 18:37:00', 1),
    (6144, 5144, 'inbox', 'nikos.stavrou@example.net', 'Hello,

please cancel my order LP-11753. It is too slow for me.

Nikos Stavrou', '2026-03-01 06:58:00', 1),
    (6145, 5145, 'inbox', 'nikos.stavrou@example.net', 'Hello,

I am in town on 2026-03-06. Could I have LP-11753 at the door, at 10:30?

Nikos Stavrou', '2026-02-28 09:10:00', 1),
    (6146, 5146, 'inbox', 'nikos.stavrou@example.net', 'Hello,

may I collect order LP-11753 at your place? I could come on 2026-03-05 at 10:30.

Nikos Stavrou', '2026-02-28 03:28:00', 1),
    (6147, 5147, 'inbox', 'pedro.carvalho@example.org', 'Hello,

can you still stop LP-11760? I want to cancel the whole order. I have ordered it twice.

Pedro Carvalho', '2026-03-01 10:16:00', 1),
    (6148, 5148, 'inbox', 'pedro.carvalho@example.org', 'Hello,

I am in town on 2026-03-04. Could I have LP-11760 at the door, at 13:30?

Pedro Carvalho', '2026-02-28 10:22:00', 1),
    (6149, 5149, 'inbox', 'pedro.carvalho@example.org', 'Hello,

may I collect order LP-11760 at your place? I could come on 2026-03-09 at 09:00.

Pedro Carvalho', '2026-03-01 16:16:00', 1),
    (6150, 5150, 'inbox', 'ibrahim.diallo@example.net', 'Hello,

please cancel my order LP-11767. It is too slow for me.

Ibrahim Diallo', '2026-03-01 08:38:00', 1),
    (6151, 5151, 'inbox', 'ibrahim.diallo@example.net', 'Hello,

where is my parcel for order LP-11767? Who brings it, and what is the tracking number?

Ibrahim Diallo', '2026-03-01 21:30:00', 1),
    (6152, 5152, 'inbox', 'greta.lindholm@example.org', 'Hello,

I would like to follow order LP-11767. Please send me carrier and tracking number.

Greta Lindholm', '2026-03-01 01:04:00', 1),
    (6153, 5153, 'inbox', 'ibrahim.diallo@example.net', 'Hello,

may I collect order LP-11767 at your place? I could come on 2026-03-06 at 14:00.

Ibrahim Diallo', '2026-03-01 06:17:00', 1),
    (6154, 5154, 'inbox', 'ibrahim.diallo@example.net', 'Hello,

may I collect order LP-11767 at your place? I could come on 2026-03-10 at 09:00.

Ibrahim Diallo', '2026-02-27 17:10:00', 1),
    (6155, 5155, 'inbox', 'thomas.muller@example.net', 'Hello,

can you still stop LP-11774? I want to cancel the whole order. I changed my mind.

Thomas Müller', '2026-02-28 01:57:00', 1),
    (6156, 5156, 'inbox', 'thomas.muller@example.net', 'Hello,

may I collect order LP-11774 at your place? I could come on 2026-03-05 at 10:30.

Thomas Müller', '2026-03-02 06:57:00', 1),
    (6157, 5157, 'inbox', 'thomas.muller@example.net', 'Hello,

may I collect order LP-11774 at your place? I could come on 2026-03-06 at 14:00.

Thomas Müller', '2026-03-02 06:04:00', 1),
    (6158, 5158, 'inbox', 'freja.holm@example.com', 'Hello,

please cancel my order LP-11777. I changed my mind.

Freja Holm', '2026-02-28 03:32:00', 1),
    (6159, 5159, 'inbox', 'freja.holm@example.com', 'Hello,

please don''t send LP-11777. I''d rather pick it up on 2026-03-05 at 15:30.

Freja Holm', '2026-02-28 02:54:00', 1),
    (6160, 5160, 'inbox', 'freja.holm@example.com', 'Hello,

please don''t send LP-11777. I''d rather pick it up on 2026-03-04 at 13:30.

Freja Holm', '2026-02-28 17:54:00', 1),
    (6161, 5161, 'inbox', 'kenji.arakawa@example.org', 'Hello,

please cancel my order LP-11781. It is too slow for me.

Kenji Arakawa', '2026-03-01 07:49:00', 1),
    (6162, 5162, 'inbox', 'kenji.arakawa@example.org', 'Hello,

I am in town on 2026-03-10. Could I have LP-11781 at the door, at 10:30?

Kenji Arakawa', '2026-03-01 05:21:00', 1),
    (6163, 5163, 'inbox', 'kenji.arakawa@example.org', 'Hello,

please don''t send LP-11781. I''d rather pick it up on 2026-03-04 at 10:30.

Kenji Arakawa', '2026-02-28 18:02:00', 1),
    (6164, 5164, 'inbox', 'fatima.amrani@example.com', 'Hello,

this is about order LP-11788. I would like to cancel it and get my money back. It is too slow for me.

Fatima Zahra Amrani', '2026-02-27 19:32:00', 1),
    (6165, 5165, 'inbox', 'fatima.amrani@example.com', 'Hello,

please don''t send LP-11788. I''d rather pick it up on 2026-03-09 at 10:30.

Fatima Zahra Amrani', '2026-03-01 06:37:00', 1),
    (6166, 5166, 'inbox', 'fatima.amrani@example.com', 'Hello,

may I collect order LP-11788 at your place? I could come on 2026-03-05 at 13:30.

Fatima Zahra Amrani', '2026-02-28 12:37:00', 1),
    (6167, 5167, 'inbox', 'maria.rossi82@example.org', 'Hello,

please cancel my order LP-11795. I picked the wrong item.

Maria Rossi', '2026-02-27 23:38:00', 1),
    (6168, 5168, 'inbox', 'maria.rossi82@example.org', 'Hello,

I am in town on 2026-03-06. Could I have LP-11795 at the door, at 11:00?

Maria Rossi', '2026-03-01 07:18:00', 1),
    (6169, 5169, 'inbox', 'maria.rossi82@example.org', 'Hello,

I am in town on 2026-03-10. Could I have LP-11795 at the door, at 09:00?

Maria Rossi', '2026-02-28 14:55:00', 1),
    (6170, 5170, 'inbox', 'siobhan.obrien@example.com', 'Hello,

this is about order LP-11802. I would like to cancel it and get my money back. I picked the wrong item.

Siobhán O''Brien', '2026-03-02 05:55:00', 1),
    (6171, 5171, 'inbox', 'siobhan.obrien@example.com', 'Hello,

please don''t send LP-11802. I''d rather pick it up on 2026-03-10 at 11:00.

Siobhán O''Brien', '2026-02-27 14:51:00', 1),
    (6172, 5172, 'inbox', 'siobhan.obrien@example.com', 'Hello,

I am in town on 2026-03-11. Could I have LP-11802 at the door, at 09:00?

Siobhán O''Brien', '2026-02-27 20:46:00', 1),
    (6173, 5173, 'inbox', 'emile.roux@example.net', 'Hello,

please cancel my order LP-11805. I have ordered it twice.

Émile Roux', '2026-02-28 04:16:00', 1),
    (6174, 5174, 'inbox', 'emile.roux@example.net', 'Hello,

please don''t send LP-11805. I''d rather pick it up on 2026-03-09 at 15:30.

Émile Roux', '2026-03-01 03:07:00', 1),
    (6175, 5175, 'inbox', 'emile.roux@example.net', 'Hello,

please don''t send LP-11805. I''d rather pick it up on 2026-03-04 at 15:30.

Émile Roux', '2026-02-28 15:26:00', 1),
    (6176, 5176, 'inbox', 'lucas.moreau@example.com', 'Hello,

this is about order LP-11809. I would like to cancel it and get my money back. I have ordered it twice.

Lucas Moreau', '2026-03-01 04:37:00', 1),
    (6177, 5177, 'inbox', 'aoife.brennan@example.org', 'Hello,

please don''t send LP-11809. I''d rather pick it up on 2026-03-05 at 14:00.

Aoife Brennan', '2026-02-28 04:40:00', 1),
    (6178, 5178, 'inbox', 'aoife.brennan@example.org', 'Hello,

please don''t send LP-11809. I''d rather pick it up on 2026-03-10 at 09:00.

Aoife Brennan', '2026-03-01 09:06:00', 1),
    (6179, 5179, 'inbox', 'emile.roux@example.net', 'Hello,

can you still stop LP-11816? I want to cancel the whole order. It is too slow for me.

Émile Roux', '2026-02-28 21:16:00', 1),
    (6180, 5180, 'inbox', 'emile.roux@example.net', 'Hello,

please don''t send LP-11816. I''d rather pick it up on 2026-03-04 at 10:30.

Émile Roux', '2026-03-01 20:36:00', 1),
    (6181, 5181, 'inbox', 'emile.roux@example.net', 'Hello,

please don''t send LP-11816. I''d rather pick it up on 2026-03-11 at 14:00.

Émile Roux', '2026-03-01 12:28:00', 1),
    (6182, 5182, 'inbox', 'elena.petrescu@example.com', 'Hello,

this is about order LP-11823. I would like to cancel it and get my money back. I changed my mind.

Elena Petrescu', '2026-03-02 06:18:00', 1),
    (6183, 5183, 'inbox', 'elena.petrescu@example.com', 'Hello,

please don''t send LP-11823. I''d rather pick it up on 2026-03-11 at 13:30.

Elena Petrescu', '2026-03-01 07:04:00', 1),
    (6184, 5184, 'inbox', 'elena.petrescu@example.com', 'Hello,

please don''t send LP-11823. I''d rather pick it up on 2026-03-11 at 10:30.

Elena Petrescu', '2026-03-01 23:31:00', 1),
    (6185, 5185, 'inbox', 'nikos.stavrou@example.net', 'Hello,

please cancel my order LP-11826. I changed my mind.

Nikos Stavrou', '2026-03-02 06:33:00', 1),
    (6186, 5186, 'inbox', 'nikos.stavrou@example.net', 'Hello,

please don''t send LP-11826. I''d rather pick it up on 2026-03-09 at 14:00.

Nikos Stavrou', '2026-03-01 01:02:00', 1),
    (6187, 5187, 'inbox', 'nikos.stavrou@example.net', 'Hello,

I am in town on 2026-03-04. Could I have LP-11826 at the door, at 15:30?

Nikos Stavrou', '2026-02-28 08:24:00', 1),
    (6188, 5188, 'inbox', 'thomas.mueller@example.com', 'Hello,

can you still stop LP-11830? I want to cancel the whole order. I changed my mind.

Thomas Mueller', '2026-02-28 07:06:00', 1),
    (6189, 5189, 'inbox', 'reka.horvath@example.com', 'Hello,

please cancel my order LP-11833. I have ordered it twice.

Réka Horváth', '2026-03-01 21:27:00', 1),
    (6190, 5190, 'inbox', 'sean.obrien@example.org', 'Hello,

I am in town on 2026-03-05. Could I have LP-11833 at the door, at 09:00?

Sean O''Brien', '2026-03-01 23:25:00', 1),
    (6191, 5191, 'inbox', 'sean.obrien@example.org', 'Hello,

I am in town on 2026-03-09. Could I have LP-11833 at the door, at 11:00?

Sean O''Brien', '2026-02-28 06:26:00', 1),
    (6192, 5192, 'inbox', 'priya.nair@example.net', 'Hello,

this is about order LP-11837. I would like to cancel it and get my money back. It is too slow for me.

Priya Nair', '2026-02-28 03:53:00', 1),
    (6193, 5193, 'inbox', 'priya.nair@example.net', 'Hello,

please don''t send LP-11837. I''d rather pick it up on 2026-03-06 at 10:30.

Priya Nair', '2026-02-28 13:48:00', 1),
    (6194, 5194, 'inbox', 'priya.nair@example.net', 'Hello,

I am in town on 2026-03-10. Could I have LP-11837 at the door, at 11:00?

Priya Nair', '2026-02-28 09:13:00', 1),
    (6195, 5195, 'inbox', 'thomas.muller@example.net', 'Hello,

can you still stop LP-11840? I want to cancel the whole order. I picked the wrong item.

Thomas Müller', '2026-02-28 18:45:00', 1),
    (6196, 5196, 'inbox', 'thomas.muller@example.net', 'Hello,

please don''t send LP-11840. I''d rather pick it up on 2026-03-06 at 10:30.

Thomas Müller', '2026-03-01 09:01:00', 1),
    (6197, 5197, 'inbox', 'thomas.muller@example.net', 'Hello,

I am in town on 2026-03-09. Could I have LP-11840 at the door, at 13:30?

Thomas Müller', '2026-03-01 11:46:00', 1),
    (6198, 5198, 'inbox', 'petra.kovac@example.net', 'Hello,

can you still stop LP-11844? I want to cancel the whole order. I picked the wrong item.

Petra Kovač', '2026-03-01 22:10:00', 1),
    (6199, 5199, 'inbox', 'petra.kovac@example.net', 'Hello,

where is my parcel for order LP-11844? Who brings it, and what is the tracking number?

Petra Kovač', '2026-03-02 08:20:00', 1),
    (6200, 5200, 'inbox', 'nikos.stavrou@example.net', 'Hello,

how do I track order LP-11844? I can''t find the code any more.

Nikos Stavrou', '2026-02-28 16:01:00', 1),
    (6201, 5201, 'inbox', 'petra.kovac@example.net', 'Hello,

I am in town on 2026-03-11. Could I have LP-11844 at the door, at 15:30?

Petra Kovač', '2026-03-02 01:23:00', 1),
    (6202, 5202, 'inbox', 'petra.kovac@example.net', 'Hello,

I am in town on 2026-03-11. Could I have LP-11844 at the door, at 15:30?

Petra Kovač', '2026-03-01 18:41:00', 1),
    (6203, 5203, 'inbox', 'oliver.szabo@example.net', 'Hello,

can you still stop LP-11851? I want to cancel the whole order. I changed my mind.

Olivér Szabó', '2026-02-28 14:44:00', 1),
    (6204, 5204, 'inbox', 'oliver.szabo@example.net', 'Hello,

may I collect order LP-11851 at your place? I could come on 2026-03-05 at 13:30.

Olivér Szabó', '2026-02-28 02:31:00', 1),
    (6205, 5205, 'inbox', 'oliver.szabo@example.net', 'Hello,

may I collect order LP-11851 at your place? I could come on 2026-03-04 at 09:00.

Olivér Szabó', '2026-02-27 19:45:00', 1),
    (6206, 5206, 'inbox', 'henrik.lund@example.net', 'Hello,

can you still stop LP-11858? I want to cancel the whole order. I picked the wrong item.

Henrik Lund', '2026-03-01 01:47:00', 1),
    (6207, 5207, 'inbox', 'henrik.lund@example.net', 'Hello,

I am in town on 2026-03-06. Could I have LP-11858 at the door, at 14:00?

Henrik Lund', '2026-03-01 15:21:00', 1),
    (6208, 5208, 'inbox', 'henrik.lund@example.net', 'Hello,

may I collect order LP-11858 at your place? I could come on 2026-03-11 at 13:30.

Henrik Lund', '2026-02-27 17:41:00', 1),
    (6209, 5209, 'inbox', 'marko.horvat@example.com', 'Hello,

can you still stop LP-11865? I want to cancel the whole order. I changed my mind.

Marko Horvat', '2026-02-27 17:49:00', 1),
    (6210, 5210, 'inbox', 'marko.horvat@example.com', 'Hello,

I am in town on 2026-03-05. Could I have LP-11865 at the door, at 09:00?

Marko Horvat', '2026-02-27 22:41:00', 1),
    (6211, 5211, 'inbox', 'marko.horvat@example.com', 'Hello,

please don''t send LP-11865. I''d rather pick it up on 2026-03-05 at 14:00.

Marko Horvat', '2026-02-28 15:09:00', 1),
    (6212, 5212, 'inbox', 'arjun.mehta@example.org', 'Hello,

can you still stop LP-11872? I want to cancel the whole order. I have ordered it twice.

Arjun Mehta', '2026-03-01 05:02:00', 1),
    (6213, 5213, 'inbox', 'hanna.virtanen@example.com', 'Hello,

this is about order LP-11879. I would like to cancel it and get my money back. I changed my mind.

Hanna Virtanen', '2026-03-01 20:59:00', 1),
    (6214, 5214, 'inbox', 'hanna.virtanen@example.com', 'Hello,

may I collect order LP-11879 at your place? I could come on 2026-03-09 at 14:00.

Hanna Virtanen', '2026-02-27 18:08:00', 1),
    (6215, 5215, 'inbox', 'hanna.virtanen@example.com', 'Hello,

I am in town on 2026-03-09. Could I have LP-11879 at the door, at 09:00?

Hanna Virtanen', '2026-02-28 16:31:00', 1),
    (6216, 5216, 'inbox', 'jose.ibanez@example.net', 'Hello,

this is about order LP-11886. I would like to cancel it and get my money back. It is too slow for me.

José Ángel Ibáñez', '2026-03-02 06:00:00', 1),
    (6217, 5217, 'inbox', 'jose.ibanez@example.net', 'Hello,

may I collect order LP-11886 at your place? I could come on 2026-03-09 at 14:00.

José Ángel Ibáñez', '2026-03-01 14:20:00', 1),
    (6218, 5218, 'inbox', 'jose.ibanez@example.net', 'Hello,

I am in town on 2026-03-10. Could I have LP-11886 at the door, at 13:30?

José Ángel Ibáñez', '2026-02-28 12:39:00', 1),
    (6219, 5219, 'inbox', 'leila.haddad@example.net', 'Hello,

please cancel my order LP-11893. I picked the wrong item.

Leila Haddad', '2026-02-28 19:45:00', 1),
    (6220, 5220, 'inbox', 'leila.haddad@example.net', 'Hello,

please don''t send LP-11893. I''d rather pick it up on 2026-03-06 at 10:30.

Leila Haddad', '2026-02-27 22:30:00', 1),
    (6221, 5221, 'inbox', 'leila.haddad@example.net', 'Hello,

please don''t send LP-11893. I''d rather pick it up on 2026-03-10 at 10:30.

Leila Haddad', '2026-03-02 03:59:00', 1),
    (6222, 5222, 'inbox', 'yusuf.demir@example.org', 'Hello,

this is about order LP-11896. I would like to cancel it and get my money back. I picked the wrong item.

Yusuf Demir', '2026-02-28 18:43:00', 1),
    (6223, 5223, 'inbox', 'yusuf.demir@example.org', 'Hello,

please don''t send LP-11896. I''d rather pick it up on 2026-03-04 at 11:00.

Yusuf Demir', '2026-03-01 17:00:00', 1),
    (6224, 5224, 'inbox', 'yusuf.demir@example.org', 'Hello,

may I collect order LP-11896 at your place? I could come on 2026-03-04 at 11:00.

Yusuf Demir', '2026-03-01 08:08:00', 1),
    (6225, 5225, 'inbox', 'mateusz.zielinski@example.org', 'Hello,

please cancel my order LP-11900. I have ordered it twice.

Mateusz Zieliński', '2026-02-28 00:29:00', 1),
    (6226, 5226, 'inbox', 'mateusz.zielinski@example.org', 'Hello,

I am in town on 2026-03-11. Could I have LP-11900 at the door, at 10:30?

Mateusz Zieliński', '2026-02-28 18:32:00', 1),
    (6227, 5227, 'inbox', 'mateusz.zielinski@example.org', 'Hello,

may I collect order LP-11900 at your place? I could come on 2026-03-05 at 09:00.

Mateusz Zieliński', '2026-02-27 21:50:00', 1),
    (6228, 5228, 'inbox', 'tomas.dvorak@example.org', 'Hello,

please cancel my order LP-11907. I picked the wrong item.

Tomáš Dvořák', '2026-02-27 17:06:00', 1),
    (6229, 5229, 'inbox', 'tomas.dvorak@example.org', 'Hello,

please don''t send LP-11907. I''d rather pick it up on 2026-03-09 at 14:00.

Tomáš Dvořák', '2026-02-27 20:58:00', 1),
    (6230, 5230, 'inbox', 'tomas.dvorak@example.org', 'Hello,

I am in town on 2026-03-06. Could I have LP-11907 at the door, at 09:00?

Tomáš Dvořák', '2026-03-02 08:19:00', 1),
    (6231, 5231, 'inbox', 'ines.figueiredo@example.net', 'Hello,

this is about order LP-11914. I would like to cancel it and get my money back. I have ordered it twice.

Inês Figueiredo', '2026-03-01 13:56:00', 1),
    (6232, 5232, 'inbox', 'ines.figueiredo@example.net', 'Hello,

please don''t send LP-11914. I''d rather pick it up on 2026-03-05 at 09:00.

Inês Figueiredo', '2026-03-01 08:27:00', 1),
    (6233, 5233, 'inbox', 'ines.figueiredo@example.net', 'Hello,

may I collect order LP-11914 at your place? I could come on 2026-03-10 at 11:00.

Inês Figueiredo', '2026-03-02 03:23:00', 1),
    (6234, 5234, 'inbox', 'kenji.arakawa@example.org', 'Hello,

this is about order LP-11917. I would like to cancel it and get my money back. I picked the wrong item.

Kenji Arakawa', '2026-02-27 14:54:00', 1),
    (6235, 5235, 'inbox', 'kenji.arakawa@example.org', 'Hello,

may I collect order LP-11917 at your place? I could come on 2026-03-09 at 10:30.

Kenji Arakawa', '2026-03-01 13:01:00', 1),
    (6236, 5236, 'inbox', 'kenji.arakawa@example.org', 'Hello,

please don''t send LP-11917. I''d rather pick it up on 2026-03-05 at 15:30.

Kenji Arakawa', '2026-02-28 11:37:00', 1),
    (6237, 5237, 'inbox', 'camille.girard@example.org', 'Hello,

can you still stop LP-11921? I want to cancel the whole order. It is too slow for me.

Camille Girard', '2026-03-01 23:51:00', 1),
    (6238, 5238, 'inbox', 'camille.girard@example.org', 'Hello,

please don''t send LP-11921. I''d rather pick it up on 2026-03-04 at 13:30.

Camille Girard', '2026-02-28 22:31:00', 1),
    (6239, 5239, 'inbox', 'camille.girard@example.org', 'Hello,

I am in town on 2026-03-09. Could I have LP-11921 at the door, at 10:30?

Camille Girard', '2026-02-28 08:15:00', 1),
    (6240, 5240, 'inbox', 'eleni.markou@example.com', 'Hello,

this is about order LP-11928. I would like to cancel it and get my money back. It is too slow for me.

Eleni Markou', '2026-03-01 05:19:00', 1),
    (6241, 5241, 'inbox', 'reka.horvath@example.com', 'Hello,

this is about order LP-11935. I would like to cancel it and get my money back. It is too slow for me.

Réka Horváth', '2026-02-27 18:59:00', 1),
    (6242, 5242, 'inbox', 'reka.horvath@example.com', 'Hello,

please don''t send LP-11935. I''d rather pick it up on 2026-03-06 at 09:00.

Réka Horváth', '2026-03-01 22:09:00', 1),
    (6243, 5243, 'inbox', 'reka.horvath@example.com', 'Hello,

I am in town on 2026-03-06. Could I have LP-11935 at the door, at 10:30?

Réka Horváth', '2026-03-01 19:55:00', 1),
    (6244, 5244, 'inbox', 'giulia.dangelo@example.net', 'Hello,

can you still stop LP-11942? I want to cancel the whole order. I picked the wrong item.

Giulia D''Angelo', '2026-03-01 06:28:00', 1),
    (6245, 5245, 'inbox', 'giulia.dangelo@example.net', 'Hello,

I am in town on 2026-03-09. Could I have LP-11942 at the door, at 13:30?

Giulia D''Angelo', '2026-03-01 01:09:00', 1),
    (6246, 5246, 'inbox', 'giulia.dangelo@example.net', 'Hello,

may I collect order LP-11942 at your place? I could come on 2026-03-10 at 14:00.

Giulia D''Angelo', '2026-02-28 10:33:00', 1),
    (6247, 5247, 'inbox', 'nikos.stavrou@example.net', 'Hello,

this is about order LP-11949. I would like to cancel it and get my money back. It is too slow for me.

Nikos Stavrou', '2026-02-28 21:19:00', 1),
    (6248, 5248, 'inbox', 'nikos.stavrou@example.net', 'Hello,

may I collect order LP-11949 at your place? I could come on 2026-03-11 at 09:00.

Nikos Stavrou', '2026-03-01 00:28:00', 1),
    (6249, 5249, 'inbox', 'nikos.stavrou@example.net', 'Hello,

may I collect order LP-11949 at your place? I could come on 2026-03-06 at 13:30.

Nikos Stavrou', '2026-02-28 00:39:00', 1),
    (6250, 5250, 'inbox', 'bjork.jonsdottir@example.com', 'Hello,

please cancel my order LP-11956. I changed my mind.

Björk Jónsdóttir', '2026-03-01 04:55:00', 1),
    (6251, 5251, 'inbox', 'bjork.jonsdottir@example.com', 'Hello,

may I collect order LP-11956 at your place? I could come on 2026-03-04 at 11:00.

Björk Jónsdóttir', '2026-02-28 07:09:00', 1),
    (6252, 5252, 'inbox', 'bjork.jonsdottir@example.com', 'Hello,

may I collect order LP-11956 at your place? I could come on 2026-03-06 at 10:30.

Björk Jónsdóttir', '2026-03-01 20:20:00', 1),
    (6253, 5253, 'inbox', 'wanjiru.kamau@example.com', 'Hello,

please cancel my order LP-11963. It is too slow for me.

Wanjiru Kamau', '2026-03-02 08:07:00', 1),
    (6254, 5254, 'inbox', 'jan.vries86@example.net', 'Hello,

may I collect order LP-11963 at your place? I could come on 2026-03-09 at 14:00.

Jan de Vries', '2026-03-01 23:49:00', 1),
    (6255, 5255, 'inbox', 'jan.vries86@example.net', 'Hello,

I am in town on 2026-03-04. Could I have LP-11963 at the door, at 14:00?

Jan de Vries', '2026-02-27 16:51:00', 1),
    (6256, 5256, 'inbox', 'emile.roux@example.net', 'Hello,

please cancel my order LP-11970. I changed my mind.

Émile Roux', '2026-02-27 22:48:00', 1),
    (6257, 5257, 'inbox', 'maria.rossi@example.com', 'Hello,

please cancel my order LP-11977. I picked the wrong item.

Maria Rossi', '2026-02-27 17:28:00', 1),
    (6258, 5258, 'inbox', 'mei.tan@example.com', 'Hello,

please don''t send LP-11977. I''d rather pick it up on 2026-03-05 at 10:30.

Mei-Ling Tan', '2026-03-01 06:36:00', 1),
    (6259, 5259, 'inbox', 'mei.tan@example.com', 'Hello,

please don''t send LP-11977. I''d rather pick it up on 2026-03-09 at 09:00.

Mei-Ling Tan', '2026-03-01 18:20:00', 1),
    (6260, 5260, 'inbox', 'thomas.mueller@example.com', 'Hello,

this is about order LP-11984. I would like to cancel it and get my money back. I changed my mind.

Thomas Mueller', '2026-03-02 06:44:00', 1),
    (6261, 5261, 'inbox', 'thomas.mueller@example.com', 'Hello,

I am in town on 2026-03-10. Could I have LP-11984 at the door, at 11:00?

Thomas Mueller', '2026-03-01 07:35:00', 1),
    (6262, 5262, 'inbox', 'thomas.mueller@example.com', 'Hello,

please don''t send LP-11984. I''d rather pick it up on 2026-03-06 at 15:30.

Thomas Mueller', '2026-02-28 12:56:00', 1),
    (6263, 5263, 'inbox', 'lucas.moreau@example.com', 'Hello,

please cancel my order LP-11987. I changed my mind.

Lucas Moreau', '2026-02-28 07:53:00', 1),
    (6264, 5264, 'inbox', 'lucas.moreau@example.com', 'Hello,

may I collect order LP-11987 at your place? I could come on 2026-03-04 at 11:00.

Lucas Moreau', '2026-02-28 09:25:00', 1),
    (6265, 5265, 'inbox', 'lucas.moreau@example.com', 'Hello,

I am in town on 2026-03-05. Could I have LP-11987 at the door, at 14:00?

Lucas Moreau', '2026-03-01 23:24:00', 1),
    (6266, 5266, 'inbox', 'anna.novak@example.com', 'Hello,

can you still stop LP-11991? I want to cancel the whole order. I have ordered it twice.

Anna Novak', '2026-03-01 10:52:00', 1),
    (6267, 5267, 'inbox', 'yusuf.demir@example.org', 'Hello,

please cancel my order LP-11998. I picked the wrong item.

Yusuf Demir', '2026-02-28 18:28:00', 1),
    (6268, 5268, 'inbox', 'yusuf.demir@example.org', 'Hello,

please don''t send LP-11998. I''d rather pick it up on 2026-03-04 at 15:30.

Yusuf Demir', '2026-03-02 00:10:00', 1),
    (6269, 5269, 'inbox', 'yusuf.demir@example.org', 'Hello,

please don''t send LP-11998. I''d rather pick it up on 2026-03-10 at 13:30.

Yusuf Demir', '2026-03-01 20:29:00', 1),
    (6270, 5270, 'inbox', 'lucas.moreau@example.com', 'Hello,

this is about order LP-12005. I would like to cancel it and get my money back. It is too slow for me.

Lucas Moreau', '2026-03-01 06:55:00', 1),
    (6271, 5271, 'inbox', 'petra.kovac@example.net', 'Hello,

please cancel my order LP-12012. It is too slow for me.

Petra Kovač', '2026-03-01 01:42:00', 1),
    (6272, 5272, 'inbox', 'petra.kovac@example.net', 'Hello,

please don''t send LP-12012. I''d rather pick it up on 2026-03-05 at 11:00.

Petra Kovač', '2026-02-28 03:45:00', 1),
    (6273, 5273, 'inbox', 'petra.kovac@example.net', 'Hello,

please don''t send LP-12012. I''d rather pick it up on 2026-03-09 at 09:00.

Petra Kovač', '2026-02-28 07:17:00', 1),
    (6274, 5274, 'inbox', 'soren.ostergaard@example.net', 'Hello,

this is about order LP-12019. I would like to cancel it and get my money back. I picked the wrong item.

Søren Østergaard', '2026-03-01 17:23:00', 1),
    (6275, 5275, 'inbox', 'giulia.dangelo@example.net', 'Hello,

this is about order LP-12022. I would like to cancel it and get my money back. I have ordered it twice.

Giulia D''Angelo', '2026-03-01 23:03:00', 1),
    (6276, 5276, 'inbox', 'giulia.dangelo@example.net', 'Hello,

please don''t send LP-12022. I''d rather pick it up on 2026-03-05 at 13:30.

Giulia D''Angelo', '2026-03-01 08:06:00', 1),
    (6277, 5277, 'inbox', 'giulia.dangelo@example.net', 'Hello,

I am in town on 2026-03-11. Could I have LP-12022 at the door, at 13:30?

Giulia D''Angelo', '2026-02-27 17:04:00', 1),
    (6278, 5278, 'inbox', 'siobhan.obrien@example.com', 'Hello,

can you still stop LP-12026? I want to cancel the whole order. I changed my mind.

Siobhán O''Brien', '2026-02-28 13:36:00', 1),
    (6279, 5279, 'inbox', 'zoe.berg@example.com', 'Hello,

may I collect order LP-12026 at your place? I could come on 2026-03-11 at 09:00.

Zoë van den Berg', '2026-03-01 22:05:00', 1),
    (6280, 5280, 'inbox', 'zoe.berg@example.com', 'Hello,

please don''t send LP-12026. I''d rather pick it up on 2026-03-06 at 09:00.

Zoë van den Berg', '2026-02-27 21:17:00', 1),
    (6281, 5281, 'inbox', 'maria.rossi83@example.net', 'Hello,

this is about order LP-12033. I would like to cancel it and get my money back. I have ordered it twice.

María Rossi', '2026-03-01 06:02:00', 1),
    (6282, 5282, 'inbox', 'maria.rossi83@example.net', 'Hello,

please don''t send LP-12033. I''d rather pick it up on 2026-03-11 at 10:30.

María Rossi', '2026-02-28 22:48:00', 1),
    (6283, 5283, 'inbox', 'maria.rossi83@example.net', 'Hello,

please don''t send LP-12033. I''d rather pick it up on 2026-03-05 at 10:30.

María Rossi', '2026-03-02 05:27:00', 1),
    (6284, 5284, 'inbox', 'oliver.szabo@example.net', 'Hello,

can you still stop LP-12036? I want to cancel the whole order. It is too slow for me.

Olivér Szabó', '2026-02-28 00:02:00', 1),
    (6285, 5285, 'inbox', 'oliver.szabo@example.net', 'Hello,

I am in town on 2026-03-10. Could I have LP-12036 at the door, at 10:30?

Olivér Szabó', '2026-03-01 10:17:00', 1),
    (6286, 5286, 'inbox', 'oliver.szabo@example.net', 'Hello,

I am in town on 2026-03-05. Could I have LP-12036 at the door, at 14:00?

Olivér Szabó', '2026-02-28 08:02:00', 1),
    (6287, 5287, 'inbox', 'marko.horvat@example.com', 'Hello,

can you still stop LP-12040? I want to cancel the whole order. I picked the wrong item.

Marko Horvat', '2026-02-28 14:30:00', 1),
    (6288, 5288, 'inbox', 'anna.novak66@example.org', 'Hello,

I am in town on 2026-03-09. Could I have LP-12040 at the door, at 15:30?

Anna Novak', '2026-02-27 17:16:00', 1),
    (6289, 5289, 'inbox', 'anna.novak66@example.org', 'Hello,

please don''t send LP-12040. I''d rather pick it up on 2026-03-05 at 14:00.

Anna Novak', '2026-03-02 06:26:00', 1),
    (6290, 5290, 'inbox', 'lukasz.wojcik@example.org', 'Hello,

this is about order LP-12043. I would like to cancel it and get my money back. I picked the wrong item.

Łukasz Wójcik', '2026-02-28 18:44:00', 1),
    (6291, 5291, 'inbox', 'lukasz.wojcik@example.org', 'Hello,

may I collect order LP-12043 at your place? I could come on 2026-03-11 at 10:30.

Łukasz Wójcik', '2026-03-02 05:42:00', 1),
    (6292, 5292, 'inbox', 'lukasz.wojcik@example.org', 'Hello,

may I collect order LP-12043 at your place? I could come on 2026-03-04 at 10:30.

Łukasz Wójcik', '2026-03-01 02:25:00', 1),
    (6293, 5293, 'inbox', 'ioana.dumitru@example.org', 'Hello,

please cancel my order LP-12047. I have ordered it twice.

Ioana Dumitru', '2026-02-27 21:50:00', 1),
    (6294, 5294, 'inbox', 'ioana.dumitru@example.org', 'Hello,

I am in town on 2026-03-10. Could I have LP-12047 at the door, at 13:30?

Ioana Dumitru', '2026-02-28 13:23:00', 1),
    (6295, 5295, 'inbox', 'ioana.dumitru@example.org', 'Hello,

please don''t send LP-12047. I''d rather pick it up on 2026-03-06 at 15:30.

Ioana Dumitru', '2026-02-28 22:59:00', 1),
    (6296, 5296, 'inbox', 'leila.haddad@example.net', 'Hello,

can you still stop LP-12054? I want to cancel the whole order. I have ordered it twice.

Leila Haddad', '2026-02-27 23:07:00', 1),
    (6297, 5297, 'inbox', 'maria.rossi@example.com', 'Hello,

please don''t send LP-12054. I''d rather pick it up on 2026-03-06 at 15:30.

Maria Rossi', '2026-03-01 06:00:00', 1),
    (6298, 5298, 'inbox', 'maria.rossi@example.com', 'Hello,

please don''t send LP-12054. I''d rather pick it up on 2026-03-09 at 15:30.

Maria Rossi', '2026-02-27 22:55:00', 1),
    (6299, 5299, 'inbox', 'jan.vries@example.org', 'Hello,

the Wren wireless earbuds does not please me after all. It came with order LP-10101. Never opened. Can it go back?

Jan de Vries', '2026-03-02 04:05:00', 1),
    (6300, 5300, 'inbox', 'jan.vries@example.org', 'Hello,

I would like to send back the Larder chilli oil of order LP-10101. It is unopened, I changed my mind.

Jan de Vries', '2026-03-01 17:40:00', 1),
    (6301, 5301, 'inbox', 'thomas.mueller@example.com', 'Hello,

I would like to send back the Kestrel trail shoes of order LP-10108. It is unopened, I changed my mind.

Thomas Mueller', '2026-02-28 05:22:00', 1),
    (6302, 5302, 'inbox', 'priya.nair@example.net', 'Hello,

I would like to send back the Osprey action camera of order LP-10115. It is unopened, I changed my mind.

Priya Nair', '2026-02-27 15:34:00', 1),
    (6303, 5303, 'inbox', 'oliver.szabo@example.net', 'Hello,

the Pico portable charger does not please me after all. It came with order LP-10122. Never opened. Can it go back?

Olivér Szabó', '2026-02-27 15:46:00', 1),
    (6304, 5304, 'inbox', 'aoife.brennan@example.org', 'Hello,

the Pico portable charger does not please me after all. It came with order LP-10157. Never opened. Can it go back?

Aoife Brennan', '2026-02-28 08:22:00', 1),
    (6305, 5305, 'inbox', 'anna.novak@example.com', 'Hello,

I changed my mind about the Fjell rain jacket. Still sealed, from order LP-10171. How do I return it?

Anna Novak', '2026-03-01 18:20:00', 1),
    (6306, 5306, 'inbox', 'maria.rossi83@example.net', 'Hello,

the Lumen desk speaker does not please me after all. It came with order LP-10178. Never opened. Can it go back?

María Rossi', '2026-02-28 08:36:00', 1),
    (6307, 5307, 'inbox', 'arjun.mehta@example.org', 'Hello,

I would like to send back the Juniper table lamp of order LP-10199. It is unopened, I changed my mind.

Arjun Mehta', '2026-03-02 07:13:00', 1),
    (6308, 5308, 'inbox', 'arjun.mehta@example.org', 'Hello,

the Alder leather boots does not please me after all. It came with order LP-10199. Never opened. Can it go back?

Arjun Mehta', '2026-03-01 18:31:00', 1),
    (6309, 5309, 'inbox', 'rosalind.achterberg@example.net', 'Hello,

I would like to send back the Copper fountain pen of order LP-10206. It is unopened, I changed my mind.

Rosalind Achterberg', '2026-02-27 22:23:00', 1),
    (6310, 5310, 'inbox', 'tomas.dvorak@example.org', 'Hello,

the Atlas wall map does not please me after all. It came with order LP-10213. Never opened. Can it go back?

Tomáš Dvořák', '2026-02-28 16:42:00', 1),
    (6311, 5311, 'inbox', 'tomas.dvorak@example.org', 'Hello,

I changed my mind about the Tern e-reader. Still sealed, from order LP-10213. How do I return it?

Tomáš Dvořák', '2026-02-27 21:01:00', 1),
    (6312, 5312, 'inbox', 'bjork.jonsdottir@example.com', 'Hello,

the Wren wireless earbuds does not please me after all. It came with order LP-10220. Never opened. Can it go back?

Björk Jónsdóttir', '2026-02-28 19:45:00', 1),
    (6313, 5313, 'inbox', 'bjork.jonsdottir@example.com', 'Hello,

I would like to send back the Kestrel trail shoes of order LP-10220. It is unopened, I changed my mind.

Björk Jónsdóttir', '2026-02-28 13:26:00', 1),
    (6314, 5314, 'inbox', 'greta.lindholm@example.org', 'Hello,

I would like to send back the Atlas wall map of order LP-10227. It is unopened, I changed my mind.

Greta Lindholm', '2026-02-27 15:06:00', 1),
    (6315, 5315, 'inbox', 'jose.ibanez@example.net', 'Hello,

I changed my mind about the Copper fountain pen. Still sealed, from order LP-10234. How do I return it?

José Ángel Ibáñez', '2026-03-01 23:22:00', 1),
    (6316, 5316, 'inbox', 'katarzyna.lis@example.net', 'Hello,

I changed my mind about the Lumen desk speaker. Still sealed, from order LP-10241. How do I return it?

Katarzyna Lis', '2026-02-28 12:47:00', 1),
    (6317, 5317, 'inbox', 'katarzyna.lis@example.net', 'Hello,

the Alder leather boots does not please me after all. It came with order LP-10241. Never opened. Can it go back?

Katarzyna Lis', '2026-03-01 11:36:00', 1),
    (6318, 5318, 'inbox', 'thomas.muller@example.net', 'Hello,

the Harbour wool sweater does not please me after all. It came with order LP-10248. Never opened. Can it go back?

Thomas Müller', '2026-02-28 19:33:00', 1),
    (6319, 5319, 'inbox', 'kenji.arakawa@example.org', 'Hello,

I changed my mind about the Ember camp stove. Still sealed, from order LP-10255. How do I return it?

Kenji Arakawa', '2026-03-02 04:10:00', 1),
    (6320, 5320, 'inbox', 'kenji.arakawa@example.org', 'Hello,

I would like to send back the Fjell rain jacket of order LP-10255. It is unopened, I changed my mind.

Kenji Arakawa', '2026-02-28 15:23:00', 1),
    (6321, 5321, 'inbox', 'kenji.arakawa@example.org', 'Hello,

I changed my mind about the Tern e-reader. Still sealed, from order LP-10255. How do I return it?

Kenji Arakawa', '2026-02-28 23:02:00', 1),
    (6322, 5322, 'inbox', 'mei.tan@example.com', 'Hello,

I would like to send back the Pico portable charger of order LP-10262. It is unopened, I changed my mind.

Mei-Ling Tan', '2026-03-01 18:45:00', 1),
    (6323, 5323, 'inbox', 'mei.tan@example.com', 'Hello,

the Saltmarsh hand cream does not please me after all. It came with order LP-10262. Never opened. Can it go back?

Mei-Ling Tan', '2026-02-28 14:33:00', 1),
    (6324, 5324, 'inbox', 'marko.horvat@example.com', 'Hello,

the Bivvy two-person tent does not please me after all. It came with order LP-10269. Never opened. Can it go back?

Marko Horvat', '2026-03-01 11:22:00', 1),
    (6325, 5325, 'inbox', 'freja.holm@example.com', 'Hello,

I would like to send back the Marl stoneware mug of order LP-10276. It is unopened, I changed my mind.

Freja Holm', '2026-02-28 05:49:00', 1),
    (6326, 5326, 'inbox', 'freja.holm@example.com', 'Hello,

I would like to send back the Larder chilli oil of order LP-10276. It is unopened, I changed my mind.

Freja Holm', '2026-02-28 04:17:00', 1),
    (6327, 5327, 'inbox', 'mateusz.zielinski@example.org', 'Hello,

I would like to send back the Osprey action camera of order LP-10283. It is unopened, I changed my mind.

Mateusz Zieliński', '2026-02-28 14:46:00', 1),
    (6328, 5328, 'inbox', 'mateusz.zielinski@example.org', 'Hello,

I would like to send back the Larder chilli oil of order LP-10283. It is unopened, I changed my mind.

Mateusz Zieliński', '2026-02-28 16:32:00', 1),
    (6329, 5329, 'inbox', 'wanjiru.kamau@example.com', 'Hello,

I changed my mind about the Birch shampoo bar. Still sealed, from order LP-10297. How do I return it?

Wanjiru Kamau', '2026-03-01 07:35:00', 1),
    (6330, 5330, 'inbox', 'wanjiru.kamau@example.com', 'Hello,

I would like to send back the Bivvy two-person tent of order LP-10297. It is unopened, I changed my mind.

Wanjiru Kamau', '2026-03-01 00:53:00', 1),
    (6331, 5331, 'inbox', 'emile.roux@example.net', 'Hello,

the Wren wireless earbuds does not please me after all. It came with order LP-10318. Never opened. Can it go back?

Émile Roux', '2026-03-02 01:09:00', 1),
    (6332, 5332, 'inbox', 'jan.vries86@example.net', 'Hello,

I changed my mind about the Linnet linen shirt. Still sealed, from order LP-10325. How do I return it?

Jan de Vries', '2026-03-01 02:09:00', 1),
    (6333, 5333, 'inbox', 'hanna.virtanen@example.com', 'Hello,

the Kestrel trail shoes does not please me after all. It came with order LP-10346. Never opened. Can it go back?

Hanna Virtanen', '2026-02-27 20:44:00', 1),
    (6334, 5334, 'inbox', 'yusuf.demir@example.org', 'Hello,

I would like to send back the Juniper table lamp of order LP-10353. It is unopened, I changed my mind.

Yusuf Demir', '2026-03-01 06:33:00', 1),
    (6335, 5335, 'inbox', 'eleni.markou@example.com', 'Hello,

the Ridge backpack does not please me after all. It came with order LP-10360. Never opened. Can it go back?

Eleni Markou', '2026-02-28 05:45:00', 1),
    (6336, 5336, 'inbox', 'pedro.carvalho@example.org', 'Hello,

I changed my mind about the Linnet linen shirt. Still sealed, from order LP-10367. How do I return it?

Pedro Carvalho', '2026-02-27 17:22:00', 1),
    (6337, 5337, 'inbox', 'fatima.amrani@example.com', 'Hello,

the Osprey action camera does not please me after all. It came with order LP-10374. Never opened. Can it go back?

Fatima Zahra Amrani', '2026-03-01 17:05:00', 1),
    (6338, 5338, 'inbox', 'ioana.dumitru@example.org', 'Hello,

I changed my mind about the Ember camp stove. Still sealed, from order LP-10395. How do I return it?

Ioana Dumitru', '2026-03-01 14:40:00', 1),
    (6339, 5339, 'inbox', 'ioana.dumitru@example.org', 'Hello,

I would like to send back the Bivvy two-person tent of order LP-10395. It is unopened, I changed my mind.

Ioana Dumitru', '2026-03-02 05:40:00', 1),
    (6340, 5340, 'inbox', 'aleksi.korhonen@example.org', 'Hello,

I would like to send back the Kestrel trail shoes of order LP-10402. It is unopened, I changed my mind.

Aleksi Korhonen', '2026-03-01 11:08:00', 1),
    (6341, 5341, 'inbox', 'lukasz.wojcik@example.org', 'Hello,

I changed my mind about the Drift sleeping bag. Still sealed, from order LP-10409. How do I return it?

Łukasz Wójcik', '2026-02-28 16:48:00', 1),
    (6342, 5342, 'inbox', 'lukasz.wojcik@example.org', 'Hello,

I changed my mind about the Osprey action camera. Still sealed, from order LP-10409. How do I return it?

Łukasz Wójcik', '2026-02-28 23:34:00', 1),
    (6343, 5343, 'inbox', 'siobhan.obrien@example.com', 'Hello,

I would like to send back the Harbour wool sweater of order LP-10416. It is unopened, I changed my mind.

Siobhán O''Brien', '2026-02-27 15:28:00', 1),
    (6344, 5344, 'inbox', 'leila.haddad@example.net', 'Hello,

I changed my mind about the Ridge backpack. Still sealed, from order LP-10423. How do I return it?

Leila Haddad', '2026-02-28 23:57:00', 1),
    (6345, 5345, 'inbox', 'chloe.lefevre@example.org', 'Hello,

the Tern e-reader does not please me after all. It came with order LP-10437. Never opened. Can it go back?

Chloé Lefèvre', '2026-03-01 10:52:00', 1),
    (6346, 5346, 'inbox', 'sean.obrien@example.org', 'Hello,

the Fjell rain jacket does not please me after all. It came with order LP-10444. Never opened. Can it go back?

Sean O''Brien', '2026-02-28 06:54:00', 1),
    (6347, 5347, 'inbox', 'nikos.stavrou@example.net', 'Hello,

I would like to send back the Tarn hiking trousers of order LP-10451. It is unopened, I changed my mind.

Nikos Stavrou', '2026-03-02 00:43:00', 1),
    (6348, 5348, 'inbox', 'lucas.moreau@example.com', 'Hello,

the Tern e-reader does not please me after all. It came with order LP-10465. Never opened. Can it go back?

Lucas Moreau', '2026-02-28 15:14:00', 1),
    (6349, 5349, 'inbox', 'lucas.moreau@example.com', 'Hello,

I changed my mind about the Saltmarsh hand cream. Still sealed, from order LP-10465. How do I return it?

Lucas Moreau', '2026-02-27 16:48:00', 1),
    (6350, 5350, 'inbox', 'anna.novak66@example.org', 'Hello,

I would like to send back the Fjell rain jacket of order LP-10479. It is unopened, I changed my mind.

Anna Novak', '2026-02-28 04:41:00', 1),
    (6351, 5351, 'inbox', 'arjun.mehta@example.org', 'Hello,

I would like to send back the Kestrel trail shoes of order LP-10486. It is unopened, I changed my mind.

Arjun Mehta', '2026-02-27 20:15:00', 1),
    (6352, 5352, 'inbox', 'arjun.mehta@example.org', 'Hello,

I would like to send back the Tern e-reader of order LP-10486. It is unopened, I changed my mind.

Arjun Mehta', '2026-03-02 00:33:00', 1),
    (6353, 5353, 'inbox', 'bjork.jonsdottir@example.com', 'Hello,

I changed my mind about the Juniper table lamp. Still sealed, from order LP-10493. How do I return it?

Björk Jónsdóttir', '2026-03-01 03:20:00', 1),
    (6354, 5354, 'inbox', 'camille.girard@example.org', 'Hello,

I would like to send back the Alder leather boots of order LP-10500. It is unopened, I changed my mind.

Camille Girard', '2026-03-02 06:30:00', 1),
    (6355, 5355, 'inbox', 'ibrahim.diallo@example.net', 'Hello,

I changed my mind about the Tern e-reader. Still sealed, from order LP-10507. How do I return it?

Ibrahim Diallo', '2026-03-01 14:06:00', 1),
    (6356, 5356, 'inbox', 'rosalind.achterberg@example.net', 'Hello,

the Kestrel trail shoes does not please me after all. It came with order LP-10528. Never opened. Can it go back?

Rosalind Achterberg', '2026-03-01 06:26:00', 1),
    (6357, 5357, 'inbox', 'rosalind.achterberg@example.net', 'Hello,

I would like to send back the Lumen desk speaker of order LP-10528. It is unopened, I changed my mind.

Rosalind Achterberg', '2026-03-01 09:12:00', 1),
    (6358, 5358, 'inbox', 'ines.figueiredo@example.net', 'Hello,

the Ember camp stove does not please me after all. It came with order LP-10535. Never opened. Can it go back?

Inês Figueiredo', '2026-03-01 07:10:00', 1),
    (6359, 5359, 'inbox', 'hanna.virtanen@example.com', 'Hello,

I changed my mind about the Lumen desk speaker. Still sealed, from order LP-10542. How do I return it?

Hanna Virtanen', '2026-02-28 01:51:00', 1),
    (6360, 5360, 'inbox', 'hanna.virtanen@example.com', 'Hello,

I changed my mind about the Fjell rain jacket. Still sealed, from order LP-10542. How do I return it?

Hanna Virtanen', '2026-03-01 19:44:00', 1),
    (6361, 5361, 'inbox', 'zoe.berg@example.com', 'Hello,

I changed my mind about the Atlas wall map. Still sealed, from order LP-10563. How do I return it?

Zoë van den Berg', '2026-02-28 00:23:00', 1),
    (6362, 5362, 'inbox', 'reka.horvath@example.com', 'Hello,

I changed my mind about the Saltmarsh hand cream. Still sealed, from order LP-10570. How do I return it?

Réka Horváth', '2026-02-28 19:41:00', 1),
    (6363, 5363, 'inbox', 'reka.horvath@example.com', 'Hello,

I would like to send back the Pico portable charger of order LP-10570. It is unopened, I changed my mind.

Réka Horváth', '2026-03-01 09:33:00', 1),
    (6364, 5364, 'inbox', 'priya.nair@example.net', 'Hello,

I changed my mind about the Marl stoneware mug. Still sealed, from order LP-10577. How do I return it?

Priya Nair', '2026-02-28 18:59:00', 1),
    (6365, 5365, 'inbox', 'priya.nair@example.net', 'Hello,

I would like to send back the Pico portable charger of order LP-10577. It is unopened, I changed my mind.

Priya Nair', '2026-03-01 21:39:00', 1),
    (6366, 5366, 'inbox', 'priya.nair@example.net', 'Hello,

the Calendula face oil does not please me after all. It came with order LP-10577. Never opened. Can it go back?

Priya Nair', '2026-02-28 00:44:00', 1),
    (6367, 5367, 'inbox', 'pedro.carvalho@example.org', 'Hello,

I would like to send back the Harbour wool sweater of order LP-10584. It is unopened, I changed my mind.

Pedro Carvalho', '2026-02-28 13:11:00', 1),
    (6368, 5368, 'inbox', 'soren.ostergaard@example.net', 'Hello,

the Marl stoneware mug does not please me after all. It came with order LP-10605. Never opened. Can it go back?

Søren Østergaard', '2026-03-01 10:02:00', 1),
    (6369, 5369, 'inbox', 'siobhan.obrien@example.com', 'Hello,

I would like to send back the Copper fountain pen of order LP-10612. It is unopened, I changed my mind.

Siobhán O''Brien', '2026-03-01 09:11:00', 1),
    (6370, 5370, 'inbox', 'bartholomew.finch@example.com', 'Hello,

I would like to send back the Juniper table lamp of order LP-10633. It is unopened, I changed my mind.

Bartholomew Finch', '2026-02-28 14:48:00', 1),
    (6371, 5371, 'inbox', 'freja.holm@example.com', 'Hello,

I changed my mind about the Quill duvet cover. Still sealed, from order LP-10647. How do I return it?

Freja Holm', '2026-03-01 04:10:00', 1),
    (6372, 5372, 'inbox', 'greta.lindholm@example.org', 'Hello,

I would like to send back the Birch shampoo bar of order LP-10675. It is unopened, I changed my mind.

Greta Lindholm', '2026-03-01 15:30:00', 1),
    (6373, 5373, 'inbox', 'greta.lindholm@example.org', 'Hello,

I changed my mind about the Kestrel trail shoes. Still sealed, from order LP-10675. How do I return it?

Greta Lindholm', '2026-03-02 01:34:00', 1),
    (6374, 5374, 'inbox', 'greta.lindholm@example.org', 'Hello,

I changed my mind about the Calendula face oil. Still sealed, from order LP-10675. How do I return it?

Greta Lindholm', '2026-03-02 03:33:00', 1),
    (6375, 5375, 'inbox', 'maria.rossi82@example.org', 'Hello,

I changed my mind about the Ridge backpack. Still sealed, from order LP-10682. How do I return it?

Maria Rossi', '2026-03-01 23:55:00', 1),
    (6376, 5376, 'inbox', 'wanjiru.kamau@example.com', 'Hello,

the Wren wireless earbuds does not please me after all. It came with order LP-10689. Never opened. Can it go back?

Wanjiru Kamau', '2026-03-02 06:19:00', 1),
    (6377, 5377, 'inbox', 'yusuf.demir@example.org', 'Hello,

I changed my mind about the Alder leather boots. Still sealed, from order LP-10696. How do I return it?

Yusuf Demir', '2026-02-27 23:17:00', 1),
    (6378, 5378, 'inbox', 'kenji.arakawa@example.org', 'Hello,

I would like to send back the Ember camp stove of order LP-10710. It is unopened, I changed my mind.

Kenji Arakawa', '2026-03-01 08:58:00', 1),
    (6379, 5379, 'inbox', 'maria.rossi83@example.net', 'Hello,

I would like to send back the Tern e-reader of order LP-10724. It is unopened, I changed my mind.

María Rossi', '2026-02-28 18:36:00', 1),
    (6380, 5380, 'inbox', 'giulia.dangelo@example.net', 'Hello,

I changed my mind about the Pico portable charger. Still sealed, from order LP-10731. How do I return it?

Giulia D''Angelo', '2026-03-01 17:52:00', 1),
    (6381, 5381, 'inbox', 'giulia.dangelo@example.net', 'Hello,

I would like to send back the Ridge backpack of order LP-10731. It is unopened, I changed my mind.

Giulia D''Angelo', '2026-02-28 09:19:00', 1),
    (6382, 5382, 'inbox', 'fatima.amrani@example.com', 'Hello,

I changed my mind about the Tern e-reader. Still sealed, from order LP-10738. How do I return it?

Fatima Zahra Amrani', '2026-02-27 15:01:00', 1),
    (6383, 5383, 'inbox', 'nikos.stavrou@example.net', 'Hello,

I would like to send back the Drift sleeping bag of order LP-10745. It is unopened, I changed my mind.

Nikos Stavrou', '2026-03-01 05:26:00', 1),
    (6384, 5384, 'inbox', 'nikos.stavrou@example.net', 'Hello,

I would like to send back the Tern e-reader of order LP-10745. It is unopened, I changed my mind.

Nikos Stavrou', '2026-02-28 15:07:00', 1),
    (6385, 5385, 'inbox', 'thomas.mueller@example.com', 'Hello,

I changed my mind about the Kestrel trail shoes. Still sealed, from order LP-10752. How do I return it?

Thomas Mueller', '2026-02-28 05:48:00', 1),
    (6386, 5386, 'inbox', 'katarzyna.lis@example.net', 'Hello,

the Cinder iron pan does not please me after all. It came with order LP-10759. Never opened. Can it go back?

Katarzyna Lis', '2026-03-01 08:53:00', 1),
    (6387, 5387, 'inbox', 'elena.petrescu@example.com', 'Hello,

I would like to send back the Tarn hiking trousers of order LP-10780. It is unopened, I changed my mind.

Elena Petrescu', '2026-03-01 14:18:00', 1),
    (6388, 5388, 'inbox', 'elena.petrescu@example.com', 'Hello,

I changed my mind about the Lumen desk speaker. Still sealed, from order LP-10780. How do I return it?

Elena Petrescu', '2026-02-27 19:36:00', 1),
    (6389, 5389, 'inbox', 'jan.vries@example.org', 'Hello,

the Kestrel trail shoes does not please me after all. It came with order LP-10787. Never opened. Can it go back?

Jan de Vries', '2026-02-28 19:19:00', 1),
    (6390, 5390, 'inbox', 'jan.vries@example.org', 'Hello,

I would like to send back the Drift sleeping bag of order LP-10787. It is unopened, I changed my mind.

Jan de Vries', '2026-03-01 17:55:00', 1),
    (6391, 5391, 'inbox', 'anna.novak@example.com', 'Hello,

the Lumen desk speaker does not please me after all. It came with order LP-10794. Never opened. Can it go back?

Anna Novak', '2026-02-28 00:08:00', 1),
    (6392, 5392, 'inbox', 'anna.novak@example.com', 'Hello,

the Tarn hiking trousers does not please me after all. It came with order LP-10794. Never opened. Can it go back?

Anna Novak', '2026-03-01 23:54:00', 1),
    (6393, 5393, 'inbox', 'ioana.dumitru@example.org', 'Hello,

the Harbour wool sweater does not please me after all. It came with order LP-10801. Never opened. Can it go back?

Ioana Dumitru', '2026-02-28 18:22:00', 1),
    (6394, 5394, 'inbox', 'aoife.brennan@example.org', 'Hello,

I changed my mind about the Tern e-reader. Still sealed, from order LP-10815. How do I return it?

Aoife Brennan', '2026-02-28 03:41:00', 1),
    (6395, 5395, 'inbox', 'anna.novak@example.com', 'Hello,

I would like to send back the Marl stoneware mug of order LP-10836. It is unopened, I changed my mind.

Anna Novak', '2026-03-02 02:59:00', 1),
    (6396, 5396, 'inbox', 'henrik.lund@example.net', 'Hello,

I changed my mind about the Linnet linen shirt. Still sealed, from order LP-10843. How do I return it?

Henrik Lund', '2026-02-28 00:45:00', 1),
    (6397, 5397, 'inbox', 'henrik.lund@example.net', 'Hello,

the Alder leather boots does not please me after all. It came with order LP-10843. Never opened. Can it go back?

Henrik Lund', '2026-03-01 11:37:00', 1),
    (6398, 5398, 'inbox', 'henrik.lund@example.net', 'Hello,

I changed my mind about the Osprey action camera. Still sealed, from order LP-10843. How do I return it?

Henrik Lund', '2026-02-28 03:17:00', 1),
    (6399, 5399, 'inbox', 'bjork.jonsdottir@example.com', 'Hello,

the Alder leather boots does not please me after all. It came with order LP-10850. Never opened. Can it go back?

Björk Jónsdóttir', '2026-03-02 06:17:00', 1),
    (6400, 5400, 'inbox', 'mei.tan@example.com', 'Hello,

I would like to send back the Wren wireless earbuds of order LP-10857. It is unopened, I changed my mind.

Mei-Ling Tan', '2026-02-28 14:55:00', 1),
    (6401, 5401, 'inbox', 'fatima.amrani@example.com', 'Hello,

I would like to send back the Linnet linen shirt of order LP-10864. It is unopened, I changed my mind.

Fatima Zahra Amrani', '2026-03-01 12:43:00', 1),
    (6402, 5402, 'inbox', 'rosalind.achterberg@example.net', 'Hello,

I would like to send back the Harbour wool sweater of order LP-10878. It is unopened, I changed my mind.

Rosalind Achterberg', '2026-03-01 21:19:00', 1),
    (6403, 5403, 'inbox', 'oliver.szabo@example.net', 'Hello,

I changed my mind about the Orchard honey set. Still sealed, from order LP-10892. How do I return it?

Olivér Szabó', '2026-03-01 13:53:00', 1),
    (6404, 5404, 'inbox', 'ines.figueiredo@example.net', 'Hello,

I would like to send back the Kestrel trail shoes of order LP-10906. It is unopened, I changed my mind.

Inês Figueiredo', '2026-02-28 21:40:00', 1),
    (6405, 5405, 'inbox', 'thomas.muller@example.net', 'Hello,

I changed my mind about the Kestrel trail shoes. Still sealed, from order LP-10920. How do I return it?

Thomas Müller', '2026-03-01 09:02:00', 1),
    (6406, 5406, 'inbox', 'maria.rossi82@example.org', 'Hello,

the Atlas wall map does not please me after all. It came with order LP-10927. Never opened. Can it go back?

Maria Rossi', '2026-03-02 02:36:00', 1),
    (6407, 5407, 'inbox', 'maria.rossi82@example.org', 'Hello,

the Tern e-reader does not please me after all. It came with order LP-10927. Never opened. Can it go back?

Maria Rossi', '2026-02-28 22:21:00', 1),
    (6408, 5408, 'inbox', 'aoife.brennan@example.org', 'Hello,

I changed my mind about the Ridge backpack. Still sealed, from order LP-10934. How do I return it?

Aoife Brennan', '2026-02-27 23:55:00', 1),
    (6409, 5409, 'inbox', 'aoife.brennan@example.org', 'Hello,

the Harbour wool sweater does not please me after all. It came with order LP-10934. Never opened. Can it go back?

Aoife Brennan', '2026-03-02 00:18:00', 1),
    (6410, 5410, 'inbox', 'aoife.brennan@example.org', 'Hello,

I would like to send back the Fjell rain jacket of order LP-10934. It is unopened, I changed my mind.

Aoife Brennan', '2026-02-28 16:09:00', 1),
    (6411, 5411, 'inbox', 'thomas.mueller@example.com', 'Hello,

the Fjell rain jacket does not please me after all. It came with order LP-10955. Never opened. Can it go back?

Thomas Mueller', '2026-03-01 10:33:00', 1),
    (6412, 5412, 'inbox', 'thomas.mueller@example.com', 'Hello,

I would like to send back the Alder leather boots of order LP-10955. It is unopened, I changed my mind.

Thomas Mueller', '2026-03-01 12:26:00', 1),
    (6413, 5413, 'inbox', 'camille.girard@example.org', 'Hello,

I would like to send back the Kestrel trail shoes of order LP-10962. It is unopened, I changed my mind.

Camille Girard', '2026-02-28 13:47:00', 1),
    (6414, 5414, 'inbox', 'katarzyna.lis@example.net', 'Hello,

the Quill duvet cover does not please me after all. It came with order LP-10969. Never opened. Can it go back?

Katarzyna Lis', '2026-02-28 10:41:00', 1),
    (6415, 5415, 'inbox', 'katarzyna.lis@example.net', 'Hello,

I changed my mind about the Atlas wall map. Still sealed, from order LP-10969. How do I return it?

Katarzyna Lis', '2026-03-01 13:06:00', 1),
    (6416, 5416, 'inbox', 'elena.petrescu@example.com', 'Hello,

I would like to send back the Quill duvet cover of order LP-10976. It is unopened, I changed my mind.

Elena Petrescu', '2026-03-02 07:07:00', 1),
    (6417, 5417, 'inbox', 'arjun.mehta@example.org', 'Hello,

I would like to send back the Ember camp stove of order LP-10983. It is unopened, I changed my mind.

Arjun Mehta', '2026-02-28 13:05:00', 1),
    (6418, 5418, 'inbox', 'yusuf.demir@example.org', 'Hello,

the Tarn hiking trousers does not please me after all. It came with order LP-10990. Never opened. Can it go back?

Yusuf Demir', '2026-03-02 03:28:00', 1),
    (6419, 5419, 'inbox', 'hanna.virtanen@example.com', 'Hello,

I changed my mind about the Linnet linen shirt. Still sealed, from order LP-10997. How do I return it?

Hanna Virtanen', '2026-03-01 11:18:00', 1),
    (6420, 5420, 'inbox', 'jan.vries@example.org', 'Hello,

the Bivvy two-person tent does not please me after all. It came with order LP-11011. Never opened. Can it go back?

Jan de Vries', '2026-02-28 19:17:00', 1),
    (6421, 5421, 'inbox', 'jan.vries@example.org', 'Hello,

I changed my mind about the Linnet linen shirt. Still sealed, from order LP-11011. How do I return it?

Jan de Vries', '2026-03-01 13:03:00', 1),
    (6422, 5422, 'inbox', 'zoe.berg@example.com', 'Hello,

I would like to send back the Kestrel trail shoes of order LP-11018. It is unopened, I changed my mind.

Zoë van den Berg', '2026-02-28 03:12:00', 1),
    (6423, 5423, 'inbox', 'zoe.berg@example.com', 'Hello,

I changed my mind about the Alder leather boots. Still sealed, from order LP-11018. How do I return it?

Zoë van den Berg', '2026-03-01 15:41:00', 1),
    (6424, 5424, 'inbox', 'leila.haddad@example.net', 'Hello,

I changed my mind about the Pico portable charger. Still sealed, from order LP-11025. How do I return it?

Leila Haddad', '2026-02-28 21:24:00', 1),
    (6425, 5425, 'inbox', 'leila.haddad@example.net', 'Hello,

I would like to send back the Linnet linen shirt of order LP-11025. It is unopened, I changed my mind.

Leila Haddad', '2026-03-01 14:57:00', 1),
    (6426, 5426, 'inbox', 'lukasz.wojcik@example.org', 'Hello,

I changed my mind about the Osprey action camera. Still sealed, from order LP-11046. How do I return it?

Łukasz Wójcik', '2026-03-02 04:51:00', 1),
    (6427, 5427, 'inbox', 'lukasz.wojcik@example.org', 'Hello,

the Ridge backpack does not please me after all. It came with order LP-11046. Never opened. Can it go back?

Łukasz Wójcik', '2026-03-01 04:06:00', 1),
    (6428, 5428, 'inbox', 'mateusz.zielinski@example.org', 'Hello,

the Bivvy two-person tent does not please me after all. It came with order LP-11053. Never opened. Can it go back?

Mateusz Zieliński', '2026-02-28 16:55:00', 1),
    (6429, 5429, 'inbox', 'mateusz.zielinski@example.org', 'Hello,

I would like to send back the Birch shampoo bar of order LP-11053. It is unopened, I changed my mind.

Mateusz Zieliński', '2026-03-01 15:22:00', 1),
    (6430, 5430, 'inbox', 'mateusz.zielinski@example.org', 'Hello,

the Osprey action camera does not please me after all. It came with order LP-11053. Never opened. Can it go back?

Mateusz Zieliński', '2026-02-27 18:31:00', 1),
    (6431, 5431, 'inbox', 'pedro.carvalho@example.org', 'Hello,

I changed my mind about the Tarn hiking trousers. Still sealed, from order LP-11060. How do I return it?

Pedro Carvalho', '2026-02-28 23:16:00', 1),
    (6432, 5432, 'inbox', 'pedro.carvalho@example.org', 'Hello,

the Marl stoneware mug does not please me after all. It came with order LP-11060. Never opened. Can it go back?

Pedro Carvalho', '2026-02-28 08:19:00', 1),
    (6433, 5433, 'inbox', 'freja.holm@example.com', 'Hello,

I would like to send back the Ember camp stove of order LP-11067. It is unopened, I changed my mind.

Freja Holm', '2026-03-01 03:45:00', 1),
    (6434, 5434, 'inbox', 'kenji.arakawa@example.org', 'Hello,

the Linnet linen shirt does not please me after all. It came with order LP-11081. Never opened. Can it go back?

Kenji Arakawa', '2026-03-01 21:06:00', 1),
    (6435, 5435, 'inbox', 'wanjiru.kamau@example.com', 'Hello,

I changed my mind about the Tarn hiking trousers. Still sealed, from order LP-11088. How do I return it?

Wanjiru Kamau', '2026-03-02 05:10:00', 1),
    (6436, 5436, 'inbox', 'sean.obrien@example.org', 'Hello,

I would like to send back the Quill duvet cover of order LP-11095. It is unopened, I changed my mind.

Sean O''Brien', '2026-02-28 08:28:00', 1),
    (6437, 5437, 'inbox', 'bartholomew.finch@example.com', 'Hello,

the Wren wireless earbuds does not please me after all. It came with order LP-11102. Never opened. Can it go back?

Bartholomew Finch', '2026-03-01 06:29:00', 1),
    (6438, 5438, 'inbox', 'jan.vries86@example.net', 'Hello,

I would like to send back the Pico portable charger of order LP-11109. It is unopened, I changed my mind.

Jan de Vries', '2026-03-01 16:24:00', 1),
    (6439, 5439, 'inbox', 'jan.vries86@example.net', 'Hello,

I would like to send back the Kestrel trail shoes of order LP-11109. It is unopened, I changed my mind.

Jan de Vries', '2026-03-01 11:38:00', 1),
    (6440, 5440, 'inbox', 'jan.vries86@example.net', 'Hello,

I would like to send back the Alder leather boots of order LP-11109. It is unopened, I changed my mind.

Jan de Vries', '2026-02-28 00:23:00', 1),
    (6441, 5441, 'inbox', 'siobhan.obrien@example.com', 'Hello,

I would like to send back the Osprey action camera of order LP-11123. It is unopened, I changed my mind.

Siobhán O''Brien', '2026-02-27 18:57:00', 1),
    (6442, 5442, 'inbox', 'siobhan.obrien@example.com', 'Hello,

I would like to send back the Linnet linen shirt of order LP-11123. It is unopened, I changed my mind.

Siobhán O''Brien', '2026-02-27 15:07:00', 1),
    (6443, 5443, 'inbox', 'eleni.markou@example.com', 'Hello,

the Pico portable charger does not please me after all. It came with order LP-11151. Never opened. Can it go back?

Eleni Markou', '2026-03-02 07:38:00', 1),
    (6444, 5444, 'inbox', 'greta.lindholm@example.org', 'Hello,

the Harbour wool sweater does not please me after all. It came with order LP-11158. Never opened. Can it go back?

Greta Lindholm', '2026-02-28 20:48:00', 1),
    (6445, 5445, 'inbox', 'greta.lindholm@example.org', 'Hello,

the Tern e-reader does not please me after all. It came with order LP-11158. Never opened. Can it go back?

Greta Lindholm', '2026-03-02 00:10:00', 1),
    (6446, 5446, 'inbox', 'tomas.dvorak@example.org', 'Hello,

I changed my mind about the Juniper table lamp. Still sealed, from order LP-11165. How do I return it?

Tomáš Dvořák', '2026-03-01 15:51:00', 1),
    (6447, 5447, 'inbox', 'aleksi.korhonen@example.org', 'Hello,

the Harbour wool sweater does not please me after all. It came with order LP-11186. Never opened. Can it go back?

Aleksi Korhonen', '2026-03-01 13:27:00', 1),
    (6448, 5448, 'inbox', 'nikos.stavrou@example.net', 'Hello,

the Ridge backpack does not please me after all. It came with order LP-11207. Never opened. Can it go back?

Nikos Stavrou', '2026-03-01 05:05:00', 1),
    (6449, 5449, 'inbox', 'elena.petrescu@example.com', 'Hello,

the Alder leather boots does not please me after all. It came with order LP-11242. Never opened. Can it go back?

Elena Petrescu', '2026-03-01 00:32:00', 1),
    (6450, 5450, 'inbox', 'pedro.carvalho@example.org', 'Hello,

I changed my mind about the Cinder iron pan. Still sealed, from order LP-11249. How do I return it?

Pedro Carvalho', '2026-02-27 16:43:00', 1),
    (6451, 5451, 'inbox', 'eleni.markou@example.com', 'Hello,

I would like to send back the Osprey action camera of order LP-11256. It is unopened, I changed my mind.

Eleni Markou', '2026-03-01 21:28:00', 1),
    (6452, 5452, 'inbox', 'eleni.markou@example.com', 'Hello,

I changed my mind about the Kestrel trail shoes. Still sealed, from order LP-11256. How do I return it?

Eleni Markou', '2026-02-27 20:08:00', 1),
    (6453, 5453, 'inbox', 'eleni.markou@example.com', 'Hello,

I changed my mind about the Larder chilli oil. Still sealed, from order LP-11256. How do I return it?

Eleni Markou', '2026-03-01 08:17:00', 1),
    (6454, 5454, 'inbox', 'freja.holm@example.com', 'Hello,

I would like to send back the Alder leather boots of order LP-11270. It is unopened, I changed my mind.

Freja Holm', '2026-03-01 15:40:00', 1),
    (6455, 5455, 'inbox', 'reka.horvath@example.com', 'Hello,

I would like to send back the Kestrel trail shoes of order LP-11277. It is unopened, I changed my mind.

Réka Horváth', '2026-03-01 17:34:00', 1),
    (6456, 5456, 'inbox', 'reka.horvath@example.com', 'Hello,

the Linnet linen shirt does not please me after all. It came with order LP-11277. Never opened. Can it go back?

Réka Horváth', '2026-02-28 02:49:00', 1),
    (6457, 5457, 'inbox', 'camille.girard@example.org', 'Hello,

I would like to send back the Harbour wool sweater of order LP-11284. It is unopened, I changed my mind.

Camille Girard', '2026-03-01 19:57:00', 1),
    (6458, 5458, 'inbox', 'emile.roux@example.net', 'Hello,

I changed my mind about the Drift sleeping bag. Still sealed, from order LP-11291. How do I return it?

Émile Roux', '2026-03-01 15:35:00', 1),
    (6459, 5459, 'inbox', 'jan.vries86@example.net', 'Hello,

I changed my mind about the Quill duvet cover. Still sealed, from order LP-11298. How do I return it?

Jan de Vries', '2026-03-02 06:49:00', 1),
    (6460, 5460, 'inbox', 'priya.nair@example.net', 'Hello,

I would like to send back the Bivvy two-person tent of order LP-11305. It is unopened, I changed my mind.

Priya Nair', '2026-03-01 16:48:00', 1),
    (6461, 5461, 'inbox', 'priya.nair@example.net', 'Hello,

I changed my mind about the Juniper table lamp. Still sealed, from order LP-11305. How do I return it?

Priya Nair', '2026-03-01 04:11:00', 1),
    (6462, 5462, 'inbox', 'priya.nair@example.net', 'Hello,

I changed my mind about the Tarn hiking trousers. Still sealed, from order LP-11305. How do I return it?

Priya Nair', '2026-02-27 16:15:00', 1),
    (6463, 5463, 'inbox', 'anna.novak@example.com', 'Hello,

I would like to send back the Tarn hiking trousers of order LP-11319. It is unopened, I changed my mind.

Anna Novak', '2026-03-01 16:04:00', 1),
    (6464, 5464, 'inbox', 'anna.novak@example.com', 'Hello,

I changed my mind about the Ridge backpack. Still sealed, from order LP-11319. How do I return it?

Anna Novak', '2026-03-01 23:53:00', 1),
    (6465, 5465, 'inbox', 'anna.novak@example.com', 'Hello,

I changed my mind about the Larder chilli oil. Still sealed, from order LP-11319. How do I return it?

Anna Novak', '2026-02-28 10:10:00', 1),
    (6466, 5466, 'inbox', 'yusuf.demir@example.org', 'Hello,

I would like to send back the Tarn hiking trousers of order LP-11326. It is unopened, I changed my mind.

Yusuf Demir', '2026-02-28 05:49:00', 1),
    (6467, 5467, 'inbox', 'kenji.arakawa@example.org', 'Hello,

I would like to send back the Ember camp stove of order LP-11361. It is unopened, I changed my mind.

Kenji Arakawa', '2026-02-28 20:54:00', 1),
    (6468, 5468, 'inbox', 'bjork.jonsdottir@example.com', 'Hello,

the Fjell rain jacket does not please me after all. It came with order LP-11368. Never opened. Can it go back?

Björk Jónsdóttir', '2026-02-28 02:09:00', 1),
    (6469, 5469, 'inbox', 'bjork.jonsdottir@example.com', 'Hello,

I changed my mind about the Atlas wall map. Still sealed, from order LP-11368. How do I return it?

Björk Jónsdóttir', '2026-02-28 06:01:00', 1),
    (6470, 5470, 'inbox', 'lukasz.wojcik@example.org', 'Hello,

I would like to send back the Bivvy two-person tent of order LP-11375. It is unopened, I changed my mind.

Łukasz Wójcik', '2026-02-28 07:23:00', 1),
    (6471, 5471, 'inbox', 'niamh.gallagher@example.com', 'Hello,

the Harbour wool sweater does not please me after all. It came with order LP-11382. Never opened. Can it go back?

Niamh Gallagher', '2026-02-28 02:45:00', 1),
    (6472, 5472, 'inbox', 'niamh.gallagher@example.com', 'Hello,

I would like to send back the Kestrel trail shoes of order LP-11382. It is unopened, I changed my mind.

Niamh Gallagher', '2026-03-02 04:25:00', 1),
    (6473, 5473, 'inbox', 'niamh.gallagher@example.com', 'Hello,

the Wren wireless earbuds does not please me after all. It came with order LP-11382. Never opened. Can it go back?

Niamh Gallagher', '2026-03-01 21:13:00', 1),
    (6474, 5474, 'inbox', 'katarzyna.lis@example.net', 'Hello,

the Wren wireless earbuds does not please me after all. It came with order LP-11389. Never opened. Can it go back?

Katarzyna Lis', '2026-02-28 22:10:00', 1),
    (6475, 5475, 'inbox', 'maria.rossi82@example.org', 'Hello,

the Kestrel trail shoes does not please me after all. It came with order LP-11403. Never opened. Can it go back?

Maria Rossi', '2026-03-01 18:10:00', 1),
    (6476, 5476, 'inbox', 'sean.obrien@example.org', 'Hello,

the Saltmarsh hand cream does not please me after all. It came with order LP-11417. Never opened. Can it go back?

Sean O''Brien', '2026-02-28 20:16:00', 1),
    (6477, 5477, 'inbox', 'leila.haddad@example.net', 'Hello,

I changed my mind about the Wren wireless earbuds. Still sealed, from order LP-11427. How do I return it?

Leila Haddad', '2026-02-28 23:00:00', 1),
    (6478, 5478, 'inbox', 'giulia.dangelo@example.net', 'Hello,

I would like to send back the Cinder iron pan of order LP-11438. It is unopened, I changed my mind.

Giulia D''Angelo', '2026-03-02 00:01:00', 1),
    (6479, 5479, 'inbox', 'giulia.dangelo@example.net', 'Hello,

I would like to send back the Copper fountain pen of order LP-11438. It is unopened, I changed my mind.

Giulia D''Angelo', '2026-02-28 20:18:00', 1),
    (6480, 5480, 'inbox', 'giulia.dangelo@example.net', 'Hello,

I would like to send back the Tern e-reader of order LP-11438. It is unopened, I changed my mind.

Giulia D''Angelo', '2026-02-27 19:18:00', 1),
    (6481, 5481, 'inbox', 'hanna.virtanen@example.com', 'Hello,

I would like to send back the Kestrel trail shoes of order LP-11445. It is unopened, I changed my mind.

Hanna Virtanen', '2026-03-02 07:57:00', 1),
    (6482, 5482, 'inbox', 'greta.lindholm@example.org', 'Hello,

I changed my mind about the Pico portable charger. Still sealed, from order LP-11448. How do I return it?

Greta Lindholm', '2026-03-01 16:05:00', 1),
    (6483, 5483, 'inbox', 'ines.figueiredo@example.net', 'Hello,

I changed my mind about the Wren wireless earbuds. Still sealed, from order LP-11473. How do I return it?

Inês Figueiredo', '2026-03-01 05:39:00', 1),
    (6484, 5484, 'inbox', 'jose.ibanez@example.net', 'Hello,

the Pico portable charger does not please me after all. It came with order LP-11476. Never opened. Can it go back?

José Ángel Ibáñez', '2026-02-28 10:39:00', 1),
    (6485, 5485, 'inbox', 'priya.nair@example.net', 'Hello,

the Lumen desk speaker does not please me after all. It came with order LP-11490. Never opened. Can it go back?

Priya Nair', '2026-03-01 04:31:00', 1),
    (6486, 5486, 'inbox', 'ibrahim.diallo@example.net', 'Hello,

the Tarn hiking trousers does not please me after all. It came with order LP-11494. Never opened. Can it go back?

Ibrahim Diallo', '2026-02-28 11:30:00', 1),
    (6487, 5487, 'inbox', 'soren.ostergaard@example.net', 'Hello,

the Juniper table lamp does not please me after all. It came with order LP-11501. Never opened. Can it go back?

Søren Østergaard', '2026-03-01 15:03:00', 1),
    (6488, 5488, 'inbox', 'maria.rossi83@example.net', 'Hello,

I changed my mind about the Harbour wool sweater. Still sealed, from order LP-11508. How do I return it?

María Rossi', '2026-03-02 03:27:00', 1),
    (6489, 5489, 'inbox', 'maria.rossi83@example.net', 'Hello,

I would like to send back the Lumen desk speaker of order LP-11508. It is unopened, I changed my mind.

María Rossi', '2026-02-28 16:40:00', 1),
    (6490, 5490, 'inbox', 'maria.rossi83@example.net', 'Hello,

I would like to send back the Pico portable charger of order LP-11508. It is unopened, I changed my mind.

María Rossi', '2026-02-28 06:06:00', 1),
    (6491, 5491, 'inbox', 'fatima.amrani@example.com', 'Hello,

I would like to send back the Linnet linen shirt of order LP-11515. It is unopened, I changed my mind.

Fatima Zahra Amrani', '2026-02-27 22:06:00', 1),
    (6492, 5492, 'inbox', 'jose.ibanez@example.net', 'Hello,

I would like to send back the Larder chilli oil of order LP-11522. It is unopened, I changed my mind.

José Ángel Ibáñez', '2026-02-28 04:41:00', 1),
    (6493, 5493, 'inbox', 'arjun.mehta@example.org', 'Hello,

I would like to send back the Tarn hiking trousers of order LP-11543. It is unopened, I changed my mind.

Arjun Mehta', '2026-02-28 21:46:00', 1),
    (6494, 5494, 'inbox', 'camille.girard@example.org', 'Hello,

I would like to send back the Kestrel trail shoes of order LP-11564. It is unopened, I changed my mind.

Camille Girard', '2026-02-28 09:21:00', 1),
    (6495, 5495, 'inbox', 'mei.tan@example.com', 'Hello,

the Tarn hiking trousers does not please me after all. It came with order LP-11571. Never opened. Can it go back?

Mei-Ling Tan', '2026-03-01 15:41:00', 1),
    (6496, 5496, 'inbox', 'giulia.dangelo@example.net', 'Hello,

the Marl stoneware mug does not please me after all. It came with order LP-11592. Never opened. Can it go back?

Giulia D''Angelo', '2026-02-28 08:12:00', 1),
    (6497, 5497, 'inbox', 'lukasz.wojcik@example.org', 'Hello,

I changed my mind about the Quill duvet cover. Still sealed, from order LP-11599. How do I return it?

Łukasz Wójcik', '2026-03-01 23:30:00', 1),
    (6498, 5498, 'inbox', 'reka.horvath@example.com', 'Hello,

I changed my mind about the Tern e-reader. Still sealed, from order LP-11609. How do I return it?

Réka Horváth', '2026-02-28 13:53:00', 1),
    (6499, 5499, 'inbox', 'henrik.lund@example.net', 'Hello,

I changed my mind about the Wren wireless earbuds. Still sealed, from order LP-11616. How do I return it?

Henrik Lund', '2026-03-01 12:56:00', 1),
    (6500, 5500, 'inbox', 'maria.rossi@example.com', 'Hello,

I would like to send back the Kestrel trail shoes of order LP-11620. It is unopened, I changed my mind.

Maria Rossi', '2026-02-28 15:50:00', 1),
    (6501, 5501, 'inbox', 'wanjiru.kamau@example.com', 'Hello,

I would like to send back the Osprey action camera of order LP-11630. It is unopened, I changed my mind.

Wanjiru Kamau', '2026-03-01 08:42:00', 1),
    (6502, 5502, 'inbox', 'lucas.moreau@example.com', 'Hello,

I changed my mind about the Kestrel trail shoes. Still sealed, from order LP-11641. How do I return it?

Lucas Moreau', '2026-03-01 08:14:00', 1),
    (6503, 5503, 'inbox', 'lucas.moreau@example.com', 'Hello,

the Juniper table lamp does not please me after all. It came with order LP-11641. Never opened. Can it go back?

Lucas Moreau', '2026-02-28 00:02:00', 1),
    (6504, 5504, 'inbox', 'wanjiru.kamau@example.com', 'Hello,

the Marl stoneware mug does not please me after all. It came with order LP-11648. Never opened. Can it go back?

Wanjiru Kamau', '2026-02-28 22:25:00', 1),
    (6505, 5505, 'inbox', 'jan.vries@example.org', 'Hello,

I changed my mind about the Ember camp stove. Still sealed, from order LP-11655. How do I return it?

Jan de Vries', '2026-02-28 09:41:00', 1),
    (6506, 5506, 'inbox', 'eleni.markou@example.com', 'Hello,

the Juniper table lamp does not please me after all. It came with order LP-11676. Never opened. Can it go back?

Eleni Markou', '2026-03-01 23:33:00', 1),
    (6507, 5507, 'inbox', 'eleni.markou@example.com', 'Hello,

I would like to send back the Osprey action camera of order LP-11676. It is unopened, I changed my mind.

Eleni Markou', '2026-02-28 23:57:00', 1),
    (6508, 5508, 'inbox', 'camille.girard@example.org', 'Hello,

I changed my mind about the Pico portable charger. Still sealed, from order LP-11679. How do I return it?

Camille Girard', '2026-02-27 16:50:00', 1);

INSERT INTO recipients (mail_id, email, kind) VALUES
    (6001, 'office@larkspur.example', 'to'),
    (6002, 'office@larkspur.example', 'to'),
    (6003, 'office@larkspur.example', 'to'),
    (6004, 'office@larkspur.example', 'to'),
    (6005, 'office@larkspur.example', 'to'),
    (6006, 'office@larkspur.example', 'to'),
    (6007, 'office@larkspur.example', 'to'),
    (6008, 'office@larkspur.example', 'to'),
    (6009, 'office@larkspur.example', 'to'),
    (6010, 'office@larkspur.example', 'to'),
    (6011, 'office@larkspur.example', 'to'),
    (6012, 'office@larkspur.example', 'to'),
    (6013, 'office@larkspur.example', 'to'),
    (6014, 'office@larkspur.example', 'to'),
    (6015, 'office@larkspur.example', 'to'),
    (6016, 'office@larkspur.example', 'to'),
    (6017, 'office@larkspur.example', 'to'),
    (6018, 'office@larkspur.example', 'to'),
    (6019, 'office@larkspur.example', 'to'),
    (6020, 'office@larkspur.example', 'to'),
    (6021, 'office@larkspur.example', 'to'),
    (6022, 'office@larkspur.example', 'to'),
    (6023, 'office@larkspur.example', 'to'),
    (6024, 'office@larkspur.example', 'to'),
    (6025, 'office@larkspur.example', 'to'),
    (6026, 'office@larkspur.example', 'to'),
    (6027, 'office@larkspur.example', 'to'),
    (6028, 'office@larkspur.example', 'to'),
    (6029, 'office@larkspur.example', 'to'),
    (6030, 'office@larkspur.example', 'to'),
    (6031, 'office@larkspur.example', 'to'),
    (6032, 'office@larkspur.example', 'to'),
    (6033, 'office@larkspur.example', 'to'),
    (6034, 'office@larkspur.example', 'to'),
    (6035, 'office@larkspur.example', 'to'),
    (6036, 'office@larkspur.example', 'to'),
    (6037, 'office@larkspur.example', 'to'),
    (6038, 'office@larkspur.example', 'to'),
    (6039, 'office@larkspur.example', 'to'),
    (6040, 'office@larkspur.example', 'to'),
    (6041, 'office@larkspur.example', 'to'),
    (6042, 'office@larkspur.example', 'to'),
    (6043, 'office@larkspur.example', 'to'),
    (6044, 'office@larkspur.example', 'to'),
    (6045, 'office@larkspur.example', 'to'),
    (6046, 'office@larkspur.example', 'to'),
    (6047, 'office@larkspur.example', 'to'),
    (6048, 'office@larkspur.example', 'to'),
    (6049, 'office@larkspur.example', 'to'),
    (6050, 'office@larkspur.example', 'to'),
    (6051, 'office@larkspur.example', 'to'),
    (6052, 'office@larkspur.example', 'to'),
    (6053, 'office@larkspur.example', 'to'),
    (6054, 'office@larkspur.example', 'to'),
    (6055, 'office@larkspur.example', 'to'),
    (6056, 'office@larkspur.example', 'to'),
    (6057, 'office@larkspur.example', 'to'),
    (6058, 'office@larkspur.example', 'to'),
    (6059, 'office@larkspur.example', 'to'),
    (6060, 'office@larkspur.example', 'to'),
    (6061, 'office@larkspur.example', 'to'),
    (6062, 'office@larkspur.example', 'to'),
    (6063, 'office@larkspur.example', 'to'),
    (6064, 'office@larkspur.example', 'to'),
    (6065, 'office@larkspur.example', 'to'),
    (6066, 'office@larkspur.example', 'to'),
    (6067, 'office@larkspur.example', 'to'),
    (6068, 'office@larkspur.example', 'to'),
    (6069, 'office@larkspur.example', 'to'),
    (6070, 'office@larkspur.example', 'to'),
    (6071, 'office@larkspur.example', 'to'),
    (6072, 'office@larkspur.example', 'to'),
    (6073, 'office@larkspur.example', 'to'),
    (6074, 'office@larkspur.example', 'to'),
    (6075, 'office@larkspur.example', 'to'),
    (6076, 'office@larkspur.example', 'to'),
    (6077, 'office@larkspur.example', 'to'),
    (6078, 'office@larkspur.example', 'to'),
    (6079, 'office@larkspur.example', 'to'),
    (6080, 'office@larkspur.example', 'to'),
    (6081, 'office@larkspur.example', 'to'),
    (6082, 'office@larkspur.example', 'to'),
    (6083, 'office@larkspur.example', 'to'),
    (6084, 'office@larkspur.example', 'to'),
    (6085, 'office@larkspur.example', 'to'),
    (6086, 'office@larkspur.example', 'to'),
    (6087, 'office@larkspur.example', 'to'),
    (6088, 'office@larkspur.example', 'to'),
    (6089, 'office@larkspur.example', 'to'),
    (6090, 'office@larkspur.example', 'to'),
    (6091, 'office@larkspur.example', 'to'),
    (6092, 'office@larkspur.example', 'to'),
    (6093, 'office@larkspur.example', 'to'),
    (6094, 'office@larkspur.example', 'to'),
    (6095, 'office@larkspur.example', 'to'),
    (6096, 'office@larkspur.example', 'to'),
    (6097, 'office@larkspur.example', 'to'),
    (6098, 'office@larkspur.example', 'to'),
    (6099, 'office@larkspur.example', 'to'),
    (6100, 'office@larkspur.example', 'to'),
    (6101, 'office@larkspur.example', 'to'),
    (6102, 'office@larkspur.example', 'to'),
    (6103, 'office@larkspur.example', 'to'),
    (6104, 'office@larkspur.example', 'to'),
    (6105, 'office@larkspur.example', 'to'),
    (6106, 'office@larkspur.example', 'to'),
    (6107, 'office@larkspur.example', 'to'),
    (6108, 'office@larkspur.example', 'to'),
    (6109, 'office@larkspur.example', 'to'),
    (6110, 'office@larkspur.example', 'to'),
    (6111, 'office@larkspur.example', 'to'),
    (6112, 'office@larkspur.example', 'to'),
    (6113, 'office@larkspur.example', 'to'),
    (6114, 'office@larkspur.example', 'to'),
    (6115, 'office@larkspur.example', 'to'),
    (6116, 'office@larkspur.example', 'to'),
    (6117, 'office@larkspur.example', 'to'),
    (6118, 'office@larkspur.example', 'to'),
    (6119, 'office@larkspur.example', 'to'),
    (6120, 'office@larkspur.example', 'to'),
    (6121, 'office@larkspur.example', 'to'),
    (6122, 'office@larkspur.example', 'to'),
    (6123, 'office@larkspur.example', 'to'),
    (6124, 'office@larkspur.example', 'to'),
    (6125, 'office@larkspur.example', 'to'),
    (6126, 'office@larkspur.example', 'to'),
    (6127, 'office@larkspur.example', 'to'),
    (6128, 'office@larkspur.example', 'to'),
    (6129, 'office@larkspur.example', 'to'),
    (6130, 'office@larkspur.example', 'to'),
    (6131, 'office@larkspur.example', 'to'),
    (6132, 'office@larkspur.example', 'to'),
    (6133, 'office@larkspur.example', 'to'),
    (6134, 'office@larkspur.example', 'to'),
    (6135, 'office@larkspur.example', 'to'),
    (6136, 'office@larkspur.example', 'to'),
    (6137, 'office@larkspur.example', 'to'),
    (6138, 'office@larkspur.example', 'to'),
    (6139, 'office@larkspur.example', 'to'),
    (6140, 'office@larkspur.example', 'to'),
    (6141, 'office@larkspur.example', 'to'),
    (6142, 'office@larkspur.example', 'to'),
    (6143, 'office@larkspur.example', 'to'),
    (6144, 'office@larkspur.example', 'to'),
    (6145, 'office@larkspur.example', 'to'),
    (6146, 'office@larkspur.example', 'to'),
    (6147, 'office@larkspur.example', 'to'),
    (6148, 'office@larkspur.example', 'to'),
    (6149, 'office@larkspur.example', 'to'),
    (6150, 'office@larkspur.example', 'to'),
    (6151, 'office@larkspur.example', 'to'),
    (6152, 'office@larkspur.example', 'to'),
    (6153, 'office@larkspur.example', 'to'),
    (6154, 'office@larkspur.example', 'to'),
    (6155, 'office@larkspur.example', 'to'),
    (6156, 'office@larkspur.example', 'to'),
    (6157, 'office@larkspur.example', 'to'),
    (6158, 'office@larkspur.example', 'to'),
    (6159, 'office@larkspur.example', 'to'),
    (6160, 'office@larkspur.example', 'to'),
    (6161, 'office@larkspur.example', 'to'),
    (6162, 'office@larkspur.example', 'to'),
    (6163, 'office@larkspur.example', 'to'),
    (6164, 'office@larkspur.example', 'to'),
    (6165, 'office@larkspur.example', 'to'),
    (6166, 'office@larkspur.example', 'to'),
    (6167, 'office@larkspur.example', 'to'),
    (6168, 'office@larkspur.example', 'to'),
    (6169, 'office@larkspur.example', 'to'),
    (6170, 'office@larkspur.example', 'to'),
    (6171, 'office@larkspur.example', 'to'),
    (6172, 'office@larkspur.example', 'to'),
    (6173, 'office@larkspur.example', 'to'),
    (6174, 'office@larkspur.example', 'to'),
    (6175, 'office@larkspur.example', 'to'),
    (6176, 'office@larkspur.example', 'to'),
    (6177, 'office@larkspur.example', 'to'),
    (6178, 'office@larkspur.example', 'to'),
    (6179, 'office@larkspur.example', 'to'),
    (6180, 'office@larkspur.example', 'to'),
    (6181, 'office@larkspur.example', 'to'),
    (6182, 'office@larkspur.example', 'to'),
    (6183, 'office@larkspur.example', 'to'),
    (6184, 'office@larkspur.example', 'to'),
    (6185, 'office@larkspur.example', 'to'),
    (6186, 'office@larkspur.example', 'to'),
    (6187, 'office@larkspur.example', 'to'),
    (6188, 'office@larkspur.example', 'to'),
    (6189, 'office@larkspur.example', 'to'),
    (6190, 'office@larkspur.example', 'to'),
    (6191, 'office@larkspur.example', 'to'),
    (6192, 'office@larkspur.example', 'to'),
    (6193, 'office@larkspur.example', 'to'),
    (6194, 'office@larkspur.example', 'to'),
    (6195, 'office@larkspur.example', 'to'),
    (6196, 'office@larkspur.example', 'to'),
    (6197, 'office@larkspur.example', 'to'),
    (6198, 'office@larkspur.example', 'to'),
    (6199, 'office@larkspur.example', 'to'),
    (6200, 'office@larkspur.example', 'to'),
    (6201, 'office@larkspur.example', 'to'),
    (6202, 'office@larkspur.example', 'to'),
    (6203, 'office@larkspur.example', 'to'),
    (6204, 'office@larkspur.example', 'to'),
    (6205, 'office@larkspur.example', 'to'),
    (6206, 'office@larkspur.example', 'to'),
    (6207, 'office@larkspur.example', 'to'),
    (6208, 'office@larkspur.example', 'to'),
    (6209, 'office@larkspur.example', 'to'),
    (6210, 'office@larkspur.example', 'to'),
    (6211, 'office@larkspur.example', 'to'),
    (6212, 'office@larkspur.example', 'to'),
    (6213, 'office@larkspur.example', 'to'),
    (6214, 'office@larkspur.example', 'to'),
    (6215, 'office@larkspur.example', 'to'),
    (6216, 'office@larkspur.example', 'to'),
    (6217, 'office@larkspur.example', 'to'),
    (6218, 'office@larkspur.example', 'to'),
    (6219, 'office@larkspur.example', 'to'),
    (6220, 'office@larkspur.example', 'to'),
    (6221, 'office@larkspur.example', 'to'),
    (6222, 'office@larkspur.example', 'to'),
    (6223, 'office@larkspur.example', 'to'),
    (6224, 'office@larkspur.example', 'to'),
    (6225, 'office@larkspur.example', 'to'),
    (6226, 'office@larkspur.example', 'to'),
    (6227, 'office@larkspur.example', 'to'),
    (6228, 'office@larkspur.example', 'to'),
    (6229, 'office@larkspur.example', 'to'),
    (6230, 'office@larkspur.example', 'to'),
    (6231, 'office@larkspur.example', 'to'),
    (6232, 'office@larkspur.example', 'to'),
    (6233, 'office@larkspur.example', 'to'),
    (6234, 'office@larkspur.example', 'to'),
    (6235, 'office@larkspur.example', 'to'),
    (6236, 'office@larkspur.example', 'to'),
    (6237, 'office@larkspur.example', 'to'),
    (6238, 'office@larkspur.example', 'to'),
    (6239, 'office@larkspur.example', 'to'),
    (6240, 'office@larkspur.example', 'to'),
    (6241, 'office@larkspur.example', 'to'),
    (6242, 'office@larkspur.example', 'to'),
    (6243, 'office@larkspur.example', 'to'),
    (6244, 'office@larkspur.example', 'to'),
    (6245, 'office@larkspur.example', 'to'),
    (6246, 'office@larkspur.example', 'to'),
    (6247, 'office@larkspur.example', 'to'),
    (6248, 'office@larkspur.example', 'to'),
    (6249, 'office@larkspur.example', 'to'),
    (6250, 'office@larkspur.example', 'to'),
    (6251, 'office@larkspur.example', 'to'),
    (6252, 'office@larkspur.example', 'to'),
    (6253, 'office@larkspur.example', 'to'),
    (6254, 'office@larkspur.example', 'to'),
    (6255, 'office@larkspur.example', 'to'),
    (6256, 'office@larkspur.example', 'to'),
    (6257, 'office@larkspur.example', 'to'),
    (6258, 'office@larkspur.example', 'to'),
    (6259, 'office@larkspur.example', 'to'),
    (6260, 'office@larkspur.example', 'to'),
    (6261, 'office@larkspur.example', 'to'),
    (6262, 'office@larkspur.example', 'to'),
    (6263, 'office@larkspur.example', 'to'),
    (6264, 'office@larkspur.example', 'to'),
    (6265, 'office@larkspur.example', 'to'),
    (6266, 'office@larkspur.example', 'to'),
    (6267, 'office@larkspur.example', 'to'),
    (6268, 'office@larkspur.example', 'to'),
    (6269, 'office@larkspur.example', 'to'),
    (6270, 'office@larkspur.example', 'to'),
    (6271, 'office@larkspur.example', 'to'),
    (6272, 'office@larkspur.example', 'to'),
    (6273, 'office@larkspur.example', 'to'),
    (6274, 'office@larkspur.example', 'to'),
    (6275, 'office@larkspur.example', 'to'),
    (6276, 'office@larkspur.example', 'to'),
    (6277, 'office@larkspur.example', 'to'),
    (6278, 'office@larkspur.example', 'to'),
    (6279, 'office@larkspur.example', 'to'),
    (6280, 'office@larkspur.example', 'to'),
    (6281, 'office@larkspur.example', 'to'),
    (6282, 'office@larkspur.example', 'to'),
    (6283, 'office@larkspur.example', 'to'),
    (6284, 'office@larkspur.example', 'to'),
    (6285, 'office@larkspur.example', 'to'),
    (6286, 'office@larkspur.example', 'to'),
    (6287, 'office@larkspur.example', 'to'),
    (6288, 'office@larkspur.example', 'to'),
    (6289, 'office@larkspur.example', 'to'),
    (6290, 'office@larkspur.example', 'to'),
    (6291, 'office@larkspur.example', 'to'),
    (6292, 'office@larkspur.example', 'to'),
    (6293, 'office@larkspur.example', 'to'),
    (6294, 'office@larkspur.example', 'to'),
    (6295, 'office@larkspur.example', 'to'),
    (6296, 'office@larkspur.example', 'to'),
    (6297, 'office@larkspur.example', 'to'),
    (6298, 'office@larkspur.example', 'to'),
    (6299, 'office@larkspur.example', 'to'),
    (6300, 'office@larkspur.example', 'to'),
    (6301, 'office@larkspur.example', 'to'),
    (6302, 'office@larkspur.example', 'to'),
    (6303, 'office@larkspur.example', 'to'),
    (6304, 'office@larkspur.example', 'to'),
    (6305, 'office@larkspur.example', 'to'),
    (6306, 'office@larkspur.example', 'to'),
    (6307, 'office@larkspur.example', 'to'),
    (6308, 'office@larkspur.example', 'to'),
    (6309, 'office@larkspur.example', 'to'),
    (6310, 'office@larkspur.example', 'to'),
    (6311, 'office@larkspur.example', 'to'),
    (6312, 'office@larkspur.example', 'to'),
    (6313, 'office@larkspur.example', 'to'),
    (6314, 'office@larkspur.example', 'to'),
    (6315, 'office@larkspur.example', 'to'),
    (6316, 'office@larkspur.example', 'to'),
    (6317, 'office@larkspur.example', 'to'),
    (6318, 'office@larkspur.example', 'to'),
    (6319, 'office@larkspur.example', 'to'),
    (6320, 'office@larkspur.example', 'to'),
    (6321, 'office@larkspur.example', 'to'),
    (6322, 'office@larkspur.example', 'to'),
    (6323, 'office@larkspur.example', 'to'),
    (6324, 'office@larkspur.example', 'to'),
    (6325, 'office@larkspur.example', 'to'),
    (6326, 'office@larkspur.example', 'to'),
    (6327, 'office@larkspur.example', 'to'),
    (6328, 'office@larkspur.example', 'to'),
    (6329, 'office@larkspur.example', 'to'),
    (6330, 'office@larkspur.example', 'to'),
    (6331, 'office@larkspur.example', 'to'),
    (6332, 'office@larkspur.example', 'to'),
    (6333, 'office@larkspur.example', 'to'),
    (6334, 'office@larkspur.example', 'to'),
    (6335, 'office@larkspur.example', 'to'),
    (6336, 'office@larkspur.example', 'to'),
    (6337, 'office@larkspur.example', 'to'),
    (6338, 'office@larkspur.example', 'to'),
    (6339, 'office@larkspur.example', 'to'),
    (6340, 'office@larkspur.example', 'to'),
    (6341, 'office@larkspur.example', 'to'),
    (6342, 'office@larkspur.example', 'to'),
    (6343, 'office@larkspur.example', 'to'),
    (6344, 'office@larkspur.example', 'to'),
    (6345, 'office@larkspur.example', 'to'),
    (6346, 'office@larkspur.example', 'to'),
    (6347, 'office@larkspur.example', 'to'),
    (6348, 'office@larkspur.example', 'to'),
    (6349, 'office@larkspur.example', 'to'),
    (6350, 'office@larkspur.example', 'to'),
    (6351, 'office@larkspur.example', 'to'),
    (6352, 'office@larkspur.example', 'to'),
    (6353, 'office@larkspur.example', 'to'),
    (6354, 'office@larkspur.example', 'to'),
    (6355, 'office@larkspur.example', 'to'),
    (6356, 'office@larkspur.example', 'to'),
    (6357, 'office@larkspur.example', 'to'),
    (6358, 'office@larkspur.example', 'to'),
    (6359, 'office@larkspur.example', 'to'),
    (6360, 'office@larkspur.example', 'to'),
    (6361, 'office@larkspur.example', 'to'),
    (6362, 'office@larkspur.example', 'to'),
    (6363, 'office@larkspur.example', 'to'),
    (6364, 'office@larkspur.example', 'to'),
    (6365, 'office@larkspur.example', 'to'),
    (6366, 'office@larkspur.example', 'to'),
    (6367, 'office@larkspur.example', 'to'),
    (6368, 'office@larkspur.example', 'to'),
    (6369, 'office@larkspur.example', 'to'),
    (6370, 'office@larkspur.example', 'to'),
    (6371, 'office@larkspur.example', 'to'),
    (6372, 'office@larkspur.example', 'to'),
    (6373, 'office@larkspur.example', 'to'),
    (6374, 'office@larkspur.example', 'to'),
    (6375, 'office@larkspur.example', 'to'),
    (6376, 'office@larkspur.example', 'to'),
    (6377, 'office@larkspur.example', 'to'),
    (6378, 'office@larkspur.example', 'to'),
    (6379, 'office@larkspur.example', 'to'),
    (6380, 'office@larkspur.example', 'to'),
    (6381, 'office@larkspur.example', 'to'),
    (6382, 'office@larkspur.example', 'to'),
    (6383, 'office@larkspur.example', 'to'),
    (6384, 'office@larkspur.example', 'to'),
    (6385, 'office@larkspur.example', 'to'),
    (6386, 'office@larkspur.example', 'to'),
    (6387, 'office@larkspur.example', 'to'),
    (6388, 'office@larkspur.example', 'to'),
    (6389, 'office@larkspur.example', 'to'),
    (6390, 'office@larkspur.example', 'to'),
    (6391, 'office@larkspur.example', 'to'),
    (6392, 'office@larkspur.example', 'to'),
    (6393, 'office@larkspur.example', 'to'),
    (6394, 'office@larkspur.example', 'to'),
    (6395, 'office@larkspur.example', 'to'),
    (6396, 'office@larkspur.example', 'to'),
    (6397, 'office@larkspur.example', 'to'),
    (6398, 'office@larkspur.example', 'to'),
    (6399, 'office@larkspur.example', 'to'),
    (6400, 'office@larkspur.example', 'to'),
    (6401, 'office@larkspur.example', 'to'),
    (6402, 'office@larkspur.example', 'to'),
    (6403, 'office@larkspur.example', 'to'),
    (6404, 'office@larkspur.example', 'to'),
    (6405, 'office@larkspur.example', 'to'),
    (6406, 'office@larkspur.example', 'to'),
    (6407, 'office@larkspur.example', 'to'),
    (6408, 'office@larkspur.example', 'to'),
    (6409, 'office@larkspur.example', 'to'),
    (6410, 'office@larkspur.example', 'to'),
    (6411, 'office@larkspur.example', 'to'),
    (6412, 'office@larkspur.example', 'to'),
    (6413, 'office@larkspur.example', 'to'),
    (6414, 'office@larkspur.example', 'to'),
    (6415, 'office@larkspur.example', 'to'),
    (6416, 'office@larkspur.example', 'to'),
    (6417, 'office@larkspur.example', 'to'),
    (6418, 'office@larkspur.example', 'to'),
    (6419, 'office@larkspur.example', 'to'),
    (6420, 'office@larkspur.example', 'to'),
    (6421, 'office@larkspur.example', 'to'),
    (6422, 'office@larkspur.example', 'to'),
    (6423, 'office@larkspur.example', 'to'),
    (6424, 'office@larkspur.example', 'to'),
    (6425, 'office@larkspur.example', 'to'),
    (6426, 'office@larkspur.example', 'to'),
    (6427, 'office@larkspur.example', 'to'),
    (6428, 'office@larkspur.example', 'to'),
    (6429, 'office@larkspur.example', 'to'),
    (6430, 'office@larkspur.example', 'to'),
    (6431, 'office@larkspur.example', 'to'),
    (6432, 'office@larkspur.example', 'to'),
    (6433, 'office@larkspur.example', 'to'),
    (6434, 'office@larkspur.example', 'to'),
    (6435, 'office@larkspur.example', 'to'),
    (6436, 'office@larkspur.example', 'to'),
    (6437, 'office@larkspur.example', 'to'),
    (6438, 'office@larkspur.example', 'to'),
    (6439, 'office@larkspur.example', 'to'),
    (6440, 'office@larkspur.example', 'to'),
    (6441, 'office@larkspur.example', 'to'),
    (6442, 'office@larkspur.example', 'to'),
    (6443, 'office@larkspur.example', 'to'),
    (6444, 'office@larkspur.example', 'to'),
    (6445, 'office@larkspur.example', 'to'),
    (6446, 'office@larkspur.example', 'to'),
    (6447, 'office@larkspur.example', 'to'),
    (6448, 'office@larkspur.example', 'to'),
    (6449, 'office@larkspur.example', 'to'),
    (6450, 'office@larkspur.example', 'to'),
    (6451, 'office@larkspur.example', 'to'),
    (6452, 'office@larkspur.example', 'to'),
    (6453, 'office@larkspur.example', 'to'),
    (6454, 'office@larkspur.example', 'to'),
    (6455, 'office@larkspur.example', 'to'),
    (6456, 'office@larkspur.example', 'to'),
    (6457, 'office@larkspur.example', 'to'),
    (6458, 'office@larkspur.example', 'to'),
    (6459, 'office@larkspur.example', 'to'),
    (6460, 'office@larkspur.example', 'to'),
    (6461, 'office@larkspur.example', 'to'),
    (6462, 'office@larkspur.example', 'to'),
    (6463, 'office@larkspur.example', 'to'),
    (6464, 'office@larkspur.example', 'to'),
    (6465, 'office@larkspur.example', 'to'),
    (6466, 'office@larkspur.example', 'to'),
    (6467, 'office@larkspur.example', 'to'),
    (6468, 'office@larkspur.example', 'to'),
    (6469, 'office@larkspur.example', 'to'),
    (6470, 'office@larkspur.example', 'to'),
    (6471, 'office@larkspur.example', 'to'),
    (6472, 'office@larkspur.example', 'to'),
    (6473, 'office@larkspur.example', 'to'),
    (6474, 'office@larkspur.example', 'to'),
    (6475, 'office@larkspur.example', 'to'),
    (6476, 'office@larkspur.example', 'to'),
    (6477, 'office@larkspur.example', 'to'),
    (6478, 'office@larkspur.example', 'to'),
    (6479, 'office@larkspur.example', 'to'),
    (6480, 'office@larkspur.example', 'to'),
    (6481, 'office@larkspur.example', 'to'),
    (6482, 'office@larkspur.example', 'to'),
    (6483, 'office@larkspur.example', 'to'),
    (6484, 'office@larkspur.example', 'to'),
    (6485, 'office@larkspur.example', 'to'),
    (6486, 'office@larkspur.example', 'to'),
    (6487, 'office@larkspur.example', 'to'),
    (6488, 'office@larkspur.example', 'to'),
    (6489, 'office@larkspur.example', 'to'),
    (6490, 'office@larkspur.example', 'to'),
    (6491, 'office@larkspur.example', 'to'),
    (6492, 'office@larkspur.example', 'to'),
    (6493, 'office@larkspur.example', 'to'),
    (6494, 'office@larkspur.example', 'to'),
    (6495, 'office@larkspur.example', 'to'),
    (6496, 'office@larkspur.example', 'to'),
    (6497, 'office@larkspur.example', 'to'),
    (6498, 'office@larkspur.example', 'to'),
    (6499, 'office@larkspur.example', 'to'),
    (6500, 'office@larkspur.example', 'to'),
    (6501, 'office@larkspur.example', 'to'),
    (6502, 'office@larkspur.example', 'to'),
    (6503, 'office@larkspur.example', 'to'),
    (6504, 'office@larkspur.example', 'to'),
    (6505, 'office@larkspur.example', 'to'),
    (6506, 'office@larkspur.example', 'to'),
    (6507, 'office@larkspur.example', 'to'),
    (6508, 'office@larkspur.example', 'to');

INSERT INTO events (event_id, title, organiser_id, room_id, starts_at, ends_at, minutes, status, fixed) VALUES
    (5001, 'LP-11693', 240, NULL, '2026-03-05 14:00', '2026-03-05 14:30', 30, 'confirmed', 0),
    (5002, 'LP-11711', 219, NULL, '2026-03-06 13:30', '2026-03-06 14:00', 30, 'confirmed', 0),
    (5003, 'LP-11760', 213, NULL, '2026-03-09 10:30', '2026-03-09 11:00', 30, 'confirmed', 0),
    (5006, 'LP-11802', 228, NULL, '2026-03-09 13:30', '2026-03-09 14:00', 30, 'confirmed', 0),
    (5007, 'LP-11809', 228, NULL, '2026-03-09 15:30', '2026-03-09 16:00', 30, 'confirmed', 0),
    (5008, 'LP-11823', 225, NULL, '2026-03-06 15:30', '2026-03-06 16:00', 30, 'confirmed', 0),
    (5010, 'LP-11840', 210, NULL, '2026-03-09 10:30', '2026-03-09 11:00', 30, 'confirmed', 0),
    (5011, 'LP-11858', 213, NULL, '2026-03-10 10:30', '2026-03-10 11:00', 30, 'confirmed', 0),
    (5012, 'LP-11879', 225, NULL, '2026-03-05 14:00', '2026-03-05 14:30', 30, 'confirmed', 0),
    (5014, 'LP-11900', 240, NULL, '2026-03-11 13:30', '2026-03-11 14:00', 30, 'confirmed', 0),
    (5016, 'LP-11921', 213, NULL, '2026-03-09 15:30', '2026-03-09 16:00', 30, 'confirmed', 0),
    (5018, 'LP-11956', 210, NULL, '2026-03-06 13:30', '2026-03-06 14:00', 30, 'confirmed', 0),
    (5019, 'LP-11977', 234, NULL, '2026-03-04 09:00', '2026-03-04 09:30', 30, 'confirmed', 0),
    (5021, 'LP-12012', 240, NULL, '2026-03-06 09:00', '2026-03-06 09:30', 30, 'confirmed', 0),
    (5022, 'LP-12026', 240, NULL, '2026-03-05 10:30', '2026-03-05 11:00', 30, 'confirmed', 0),
    (5023, 'LP-12036', 228, NULL, '2026-03-05 15:30', '2026-03-05 16:00', 30, 'confirmed', 0),
    (5024, 'LP-12043', 216, NULL, '2026-03-10 11:00', '2026-03-10 11:30', 30, 'confirmed', 0),
    (5025, 'LP-12054', 201, NULL, '2026-03-11 15:30', '2026-03-11 16:00', 30, 'confirmed', 0);

INSERT INTO attendees (event_id, staff_id) VALUES
    (5001, 240),
    (5002, 219),
    (5003, 213),
    (5006, 228),
    (5007, 228),
    (5008, 225),
    (5010, 210),
    (5011, 213),
    (5012, 225),
    (5014, 240),
    (5016, 213),
    (5018, 210),
    (5019, 234),
    (5021, 240),
    (5022, 240),
    (5023, 228),
    (5024, 216),
    (5025, 201);
